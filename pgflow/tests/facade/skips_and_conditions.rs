//! What happens to a run when steps fail for good or are not wanted.

use pgflow::prelude::*;
use pgflow::testing::{self, FinishedRun, RunError, StepStatus};

#[data]
struct Order {
    plan: String,
    amounts: Vec<u32>,
}

fn order(plan: &str) -> Order {
    Order { plan: plan.to_owned(), amounts: vec![1, 2] }
}

fn run<F: pgflow::Flow>(flow: F, input: F::Input) -> std::result::Result<FinishedRun<F>, RunError> {
    testing::block_on(testing::run(flow, input))
}

#[flow(input = Order, max_attempts = 2)]
mod skips {
    use super::*;

    #[step(when_exhausted = skip)]
    pub(super) async fn list(run: Order) -> Result<Vec<u32>> {
        if run.plan == "broken" { Err("no list".into()) } else { Ok(run.amounts) }
    }

    #[step(map, depends_on = [list])]
    pub(super) async fn double(item: u32) -> Result<u32> {
        Ok(item * 2)
    }

    #[step(depends_on = [list, double])]
    pub(super) async fn sum(list: Option<Vec<u32>>, double: Vec<u32>) -> Result<Option<u32>> {
        Ok(list.map(|_| double.iter().sum()))
    }
}

#[test]
fn a_skipped_dependency_is_none_and_a_map_over_it_is_empty() -> Result<()> {
    assert_eq!(run(skips::Flow, order("pro"))?.output()?.sum, Some(6));

    let broken = run(skips::Flow, order("broken"))?;
    assert_eq!(broken.status::<skips::list>(), StepStatus::Exhausted { attempts: 2 });
    assert_eq!(broken.status::<skips::double>(), StepStatus::Completed { attempts: 0 });
    assert_eq!(broken.step::<skips::double>()?, Some(vec![]));
    assert_eq!(broken.output()?.sum, None);
    Ok(())
}

#[flow(input = Order)]
mod cascade {
    use super::*;

    #[step(only_if = { "plan": "pro" }, when_unmet = skip_cascade)]
    pub(super) async fn invoice(run: Order) -> Result<u32> {
        Ok(run.amounts.iter().sum())
    }

    #[step(depends_on = [invoice])]
    pub(super) async fn mail(invoice: u32) -> Result<String> {
        Ok(format!("please pay {invoice}"))
    }

    #[step(unless = { "plan": "pro" })]
    pub(super) async fn advertise(run: Order) -> Result<String> {
        Ok(format!("better than {}", run.plan))
    }
}

#[test]
fn a_cascade_skips_what_comes_after_and_the_output_has_options() -> Result<()> {
    let pro = run(cascade::Flow, order("pro"))?.output()?;
    assert_eq!((pro.mail.as_deref(), pro.advertise), (Some("please pay 3"), None));

    let free = run(cascade::Flow, order("free"))?;
    assert_eq!(free.status::<cascade::invoice>(), StepStatus::ConditionUnmet);
    assert_eq!(free.status::<cascade::mail>(), StepStatus::DependencySkipped);
    let output = free.output()?;
    assert_eq!((output.mail, output.advertise.as_deref()), (None, Some("better than free")));
    Ok(())
}

#[flow(input = Order)]
mod tested_outputs {
    use super::*;

    #[step]
    pub(super) async fn check(run: Order) -> Result<Order> {
        Ok(run)
    }

    #[step(depends_on = [check], only_if = { "check": { "amounts": [2] } }, when_unmet = fail)]
    pub(super) async fn ship(check: Order) -> Result<usize> {
        Ok(check.amounts.len())
    }
}

#[test]
fn a_condition_tests_the_outputs_of_dependencies() -> Result<()> {
    assert_eq!(run(tested_outputs::Flow, order("pro"))?.output()?.ship, 2);

    let nothing = Order { amounts: vec![], ..order("pro") };
    let error = run(tested_outputs::Flow, nothing).expect_err("unmet");
    assert!(matches!(error, RunError::Condition { step: "ship" }), "{error}");
    Ok(())
}

#[flow]
mod fatal {
    use pgflow::prelude::*;

    #[step(max_attempts = 9)]
    pub(super) async fn charge() -> Result<u32> {
        Err(Error::fatal("card refused"))
    }
}

#[test]
fn a_fatal_error_is_not_tried_again() {
    let error = run(fatal::Flow, ()).expect_err("refused");
    assert_eq!(error.to_string(), "step `charge` failed after attempt 1: card refused");
}
