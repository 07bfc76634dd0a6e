//! Conditions on the run's input and on dependencies, as tokens and as text.
#![deny(warnings)]

use pgflow::prelude::*;
use pgflow::testing::{StepStatus, block_on, run};

#[data]
pub struct Signup {
    plan: Plan,
    tags: Vec<String>,
}

#[data]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    is_paid: bool,
    seats: Option<u32>,
}

#[flow(input = Signup)]
mod billing {
    use super::*;

    #[step(only_if = { "plan": { "isPaid": true } }, when_unmet = fail)]
    pub async fn charge(run: Signup) -> Result<Plan> {
        Ok(run.plan)
    }

    #[step(unless = r#"{"tags": ["internal"]}"#)]
    pub async fn remind(run: Signup) -> Result<usize> {
        Ok(run.tags.len())
    }

    #[step(depends_on = [charge], only_if = { "charge": { "seats": 3 } }, when_unmet = skip_cascade)]
    pub async fn seats(charge: Plan) -> Result<Option<u32>> {
        Ok(charge.seats)
    }

    #[step(depends_on = [remind, seats])]
    pub async fn close(remind: Option<usize>, seats: Option<u32>) -> Result<bool> {
        Ok(remind.is_some() && seats.is_some())
    }
}

fn signup(is_paid: bool, seats: u32, tag: &str) -> Signup {
    Signup { plan: Plan { is_paid, seats: Some(seats) }, tags: vec![tag.into()] }
}

fn main() {
    let shape = billing::Flow::shape();
    let pattern = shape.steps[0].only_if.as_ref().expect("a pattern");
    assert_eq!(pattern.to_string(), r#"{"plan":{"isPaid":true}}"#);

    let all = block_on(run(billing::Flow, signup(true, 3, "new"))).expect("it runs");
    assert_eq!(all.output().expect("its output").close, Some(true));
    let internal = block_on(run(billing::Flow, signup(true, 3, "internal"))).expect("it runs");
    assert_eq!(internal.status::<billing::remind>(), StepStatus::ConditionUnmet);
    assert_eq!(internal.output().expect("its output").close, Some(false));
    let small = block_on(run(billing::Flow, signup(true, 1, "new"))).expect("it runs");
    assert_eq!(small.output().expect("its output").close, None);
    block_on(run(billing::Flow, signup(false, 3, "new"))).expect_err("the run fails");
}
