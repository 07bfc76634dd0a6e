//! Dependencies under other names, in any order of parameters.
#![deny(warnings)]

use pgflow::prelude::*;
use pgflow::testing::{block_on, run};

#[flow(input = u32)]
mod billing {
    use super::*;

    #[step]
    pub async fn fetch_user(run: u32) -> Result<u32> {
        Ok(run)
    }

    #[step]
    pub async fn fetch_plan(run: u32) -> Result<String> {
        Ok(run.to_string())
    }

    #[step(depends_on = [fetch_user as user, fetch_plan as plan])]
    pub async fn invoice(plan: String, run: u32, user: u32) -> Result<String> {
        Ok(format!("{plan}/{run}/{user}"))
    }

    #[step(map, depends_on = [letters as letter])]
    pub async fn upper(letter: char) -> Result<char> {
        Ok(letter.to_ascii_uppercase())
    }

    #[step]
    pub async fn letters() -> Result<Vec<char>> {
        Ok(vec!['a'])
    }
}

fn main() {
    let shape = billing::Flow::shape();
    let invoice = shape.steps.iter().find(|step| step.slug == "invoice").expect("a step");
    assert_eq!(invoice.depends_on, ["fetch_user", "fetch_plan"]);

    let ran = block_on(run(billing::Flow, 7)).expect("it runs");
    let output = ran.output().expect("its outputs");
    assert_eq!(output.invoice, "7/7/7");
    assert_eq!(output.upper, ['A']);
}
