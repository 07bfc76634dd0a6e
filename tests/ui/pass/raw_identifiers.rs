//! Steps and aliases that are keywords.
#![deny(warnings)]

use pgflow::prelude::*;
use pgflow::testing::{block_on, run};

#[flow(input = u32)]
mod r#loop {
    use super::*;

    #[step]
    pub async fn r#type(run: u32) -> Result<u32> {
        Ok(run)
    }

    #[step(depends_on = [r#type])]
    pub async fn r#final(r#type: u32) -> Result<u32> {
        Ok(r#type)
    }

    #[step(depends_on = [r#final as r#in])]
    pub async fn last(r#in: u32) -> Result<u32> {
        Ok(r#in)
    }
}

fn main() {
    assert_eq!(r#loop::Flow::SLUG, "loop");
    let shape = r#loop::Flow::shape();
    let slugs: Vec<_> = shape.steps.iter().map(|step| step.slug.as_str()).collect();
    assert_eq!(slugs, ["type", "final", "last"]);
    assert_eq!(shape.steps[1].depends_on, ["type"]);

    let ran = block_on(run(r#loop::Flow, 3)).expect("it runs");
    assert_eq!(ran.step::<r#loop::r#final>().expect("a number"), Some(3));
    assert_eq!(ran.output().expect("its output").last, 3);
}
