//! A dependency that no parameter takes.
#![deny(warnings)]

use pgflow::prelude::*;
use pgflow::testing::{block_on, run};

#[flow]
mod deploy {
    use super::*;

    #[step]
    pub async fn migrate() -> Result<()> {
        Ok(())
    }

    #[step(when_exhausted = skip)]
    pub async fn warm_up() -> Result<()> {
        Ok(())
    }

    #[step(depends_on = [migrate, warm_up])]
    pub async fn restart() -> Result<u8> {
        Ok(1)
    }
}

fn main() {
    assert_eq!(deploy::Flow::shape().steps[2].depends_on, ["migrate", "warm_up"]);

    let ran = block_on(run(deploy::Flow, ())).expect("it runs");
    assert_eq!(ran.output().expect("its output").restart, 1);
}
