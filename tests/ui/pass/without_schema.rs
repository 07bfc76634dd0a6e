//! `schema = false`: types need no `JsonSchema`.
#![deny(warnings)]

use pgflow::prelude::*;
use pgflow::testing::{block_on, run};

#[derive(Serialize, Deserialize)]
pub struct Plain {
    id: u32,
}

#[flow(input = Plain, schema = false)]
mod billing {
    use super::*;

    #[step]
    pub async fn fetch(run: Plain) -> Result<Vec<Plain>> {
        Ok(vec![run])
    }

    #[step(map, depends_on = [fetch])]
    pub async fn each(item: Plain) -> Result<u32> {
        Ok(item.id)
    }
}

fn main() {
    assert_eq!(billing::Flow::shape().steps.len(), 2);
    assert!(billing::Flow::schemas().is_none());

    let ran = block_on(run(billing::Flow, Plain { id: 3 })).expect("it runs");
    assert_eq!(ran.output().expect("its output").each, [3]);
}
