//! A `macro_rules!` that is given a condition, whose names are then not those of the flow.
#![deny(warnings)]

use pgflow::prelude::*;
use pgflow::testing::{block_on, run};

#[data]
pub struct Signup {
    pub plan: String,
}

macro_rules! only_for {
    ($condition:tt) => {
        #[flow(input = Signup)]
        mod billing {
            use super::*;

            #[step(only_if = $condition)]
            pub async fn invoice(run: Signup) -> Result<String> {
                Ok(run.plan)
            }
        }
    };
}

only_for!({ "plan": "pro" });

fn main() {
    let invoice = |plan: &str| {
        let ran = block_on(run(billing::Flow, Signup { plan: plan.to_owned() })).expect("it runs");
        ran.output().expect("its output").invoice
    };
    assert_eq!(invoice("pro").as_deref(), Some("pro"));
    assert_eq!(invoice("free"), None);
}
