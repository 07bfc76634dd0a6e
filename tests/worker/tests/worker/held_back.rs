//! A type changes while runs are in flight: nothing fails, everybody sees what waits and why, and a
//! program that reads what is stored goes on with it.

use std::time::{Duration, Instant};

use pgflow::prelude::*;
use pgflow::{
    Db, RunId, RunStatus, Worker,
    client::{Parts, Reason, StepStatus},
};
use pgflow_machine::{Settle, Settled, Verdict, WorkerId};
use pgflow_runtime::backend::Claim;
use pgflow_worker_tests::{Fresh, Outcome, Working, everywhere};
use serde_json::{Value, json};

/// The price was a text when the run was started; now it is a number. It says its version so that both can be in
/// one crate.
#[flow(slug = "sale", version = 1, input = u32, max_attempts = 1)]
mod broken {
    use pgflow::prelude::*;

    #[step]
    pub(crate) async fn price(run: u32) -> Result<u32> {
        Ok(run)
    }

    #[step(depends_on = [price])]
    pub(crate) async fn bill(price: u32) -> Result<String> {
        Ok(format!("bill of {price}"))
    }
}

/// The same graph, with a type that reads both.
#[flow(slug = "sale", input = u32, max_attempts = 1)]
mod mended {
    use super::Price;
    use pgflow::prelude::*;

    #[step]
    pub(crate) async fn price(run: u32) -> Result<Price> {
        Ok(Price::New(run))
    }

    #[step(depends_on = [price])]
    pub(crate) async fn bill(price: Price) -> Result<String> {
        Ok(price.text())
    }
}

/// What reads both forms.
#[data]
#[serde(untagged)]
pub(crate) enum Price {
    Old(String),
    New(u32),
}

impl Price {
    fn text(self) -> String {
        match self {
            Self::Old(text) => format!("bill of {text}"),
            Self::New(cents) => format!("bill of {cents} cents"),
        }
    }
}

/// The same with the run's input.
#[flow(slug = "tour", version = 1, input = u32, max_attempts = 1)]
mod broken_input {
    use pgflow::prelude::*;

    #[step]
    pub(crate) async fn visit(run: u32) -> Result<String> {
        Ok(run.to_string())
    }
}

#[flow(slug = "tour", input = Price, max_attempts = 1)]
mod mended_input {
    use super::Price;
    use pgflow::prelude::*;

    #[step]
    pub(crate) async fn visit(run: Price) -> Result<String> {
        Ok(run.text())
    }
}

/// The same with elements of a map, of which one can be read.
#[flow(slug = "basket", version = 1, input = u32, max_attempts = 1)]
mod broken_element {
    use pgflow::prelude::*;

    #[step]
    pub(crate) async fn prices(run: u32) -> Result<Vec<u32>> {
        Ok(vec![run])
    }

    #[step(map, depends_on = [prices])]
    pub(crate) async fn each(item: u32) -> Result<String> {
        Ok(format!("bill of {item} cents"))
    }
}

#[flow(slug = "basket", input = u32, max_attempts = 1)]
mod mended_element {
    use super::Price;
    use pgflow::prelude::*;

    #[step]
    pub(crate) async fn prices(run: u32) -> Result<Vec<Price>> {
        Ok(vec![Price::New(run)])
    }

    #[step(map, depends_on = [prices])]
    pub(crate) async fn each(item: Price) -> Result<String> {
        Ok(item.text())
    }
}

everywhere!(
    a_type_that_cannot_be_read_holds_the_step_back,
    an_input_that_cannot_be_read_holds_the_step_back,
    an_element_that_cannot_be_read_holds_its_task_back,
);

async fn an_input_that_cannot_be_read_holds_the_step_back(fresh: Fresh) -> Outcome {
    let db = &fresh.db;
    db.register(broken_input::Flow).await?;
    let run = db.start(mended_input::Flow, Price::Old("7 cents".into())).await?;
    let told = held_back_reason(db, run.id(), "visit", || Worker::new(db).flow(broken_input::Flow));
    let told = told.await?;
    assert!(told.starts_with("cannot read the run's input: "), "{told}");
    let record = run.record(Parts::Steps).await?;
    assert_eq!(record.status, RunStatus::Started, "nothing has failed");
    let work = record.steps[0].work.clone().ok_or("nobody knows what it is doing")?;
    assert_eq!((work.last_error, work.attempts), (None, 0), "none is used up");

    let working = Working::start(Worker::new(db).flow(mended_input::Flow));
    assert_eq!(run.wait_for(Duration::from_mins(1)).await?, Some(RunStatus::Completed));
    assert_eq!(run.output().await?.visit, "bill of 7 cents");
    working.stop().await?;
    Ok(())
}

async fn an_element_that_cannot_be_read_holds_its_task_back(fresh: Fresh) -> Outcome {
    let db = &fresh.db;
    db.register(broken_element::Flow).await?;
    let run = db.start(broken_element::Flow, &7).await?;
    complete(db, "basket", json!(["7 cents", 8])).await?;
    let told =
        held_back_reason(db, run.id(), "each", || Worker::new(db).flow(broken_element::Flow));
    let told = told.await?;
    assert!(told.starts_with("cannot read an element for map step `each`: "), "{told}");
    let record = run.record(Parts::Steps).await?;
    assert_eq!(record.status, RunStatus::Started, "nothing has failed");
    let work = record.steps[1].work.clone().ok_or("nobody knows what it is doing")?;
    assert_eq!(work.last_error, None, "nothing has failed");

    let working = Working::start(Worker::new(db).flow(mended_element::Flow));
    assert_eq!(run.wait_for(Duration::from_mins(1)).await?, Some(RunStatus::Completed));
    assert_eq!(run.output().await?.each, ["bill of 7 cents", "bill of 8 cents"]);
    working.stop().await?;
    Ok(())
}

async fn a_type_that_cannot_be_read_holds_the_step_back(fresh: Fresh) -> Outcome {
    let db = &fresh.db;
    db.register(broken::Flow).await?;
    let run = db.start(broken::Flow, &7).await?;
    complete(db, "sale", json!("7 cents")).await?;
    let fresh_run = db.start(broken::Flow, &8).await?;

    // Deployed with a type that does not fit: each worker that starts tries, and holds it back.
    let deadline = Instant::now() + Duration::from_mins(1);
    let mut held_back = 0;
    while held_back < 3 {
        assert!(Instant::now() < deadline, "it was held back {held_back} times only");
        let working = Working::start(Worker::new(db).flow(broken::Flow));
        tokio::time::sleep(Duration::from_millis(200)).await;
        held_back += working.stop().await?.released;
    }
    let working = Working::start(Worker::new(db).flow(broken::Flow));
    let ended = fresh_run.wait_for(Duration::from_mins(1)).await?;
    assert_eq!(ended, Some(RunStatus::Completed), "what fits goes on beside it");
    working.stop().await?;
    let told = held_back_reason(db, run.id(), "bill", || Worker::new(db).flow(broken::Flow));
    assert!(told.await?.starts_with("cannot read the output of step `price`: "));
    let record = run.record(Parts::Steps).await?;
    assert_eq!(record.status, RunStatus::Started, "nothing has failed");
    let statuses: Vec<_> = record.steps.iter().map(|step| step.status).collect();
    assert_eq!(statuses, [StepStatus::Completed, StepStatus::Started]);
    let work = record.steps[1].work.clone().ok_or("nobody knows what it is doing")?;
    let told = work.yielded.ok_or("nobody says why")?;
    assert!(told.starts_with("cannot read the output of step `price`: "), "{told}");
    assert_eq!(work.last_error, None, "nothing has failed");
    assert_eq!(work.attempts, 0, "none is used up");

    // Mended: it goes on at once, with the one attempt that it has.
    let working = Working::start(Worker::new(db).flow(mended::Flow));
    assert_eq!(run.wait_for(Duration::from_mins(1)).await?, Some(RunStatus::Completed));
    assert_eq!(run.output().await?.bill, "bill of 7 cents");
    working.stop().await?;
    Ok(())
}

/// Why the run does not move, as an operator asks: `pgflow why` prints the same.
///
/// A worker that is stopped in the middle of its attempt gives the task back without a reason, so that another one has to try.
async fn held_back_reason(
    db: &Db,
    run: RunId,
    of: &str,
    broken: impl Fn() -> Worker,
) -> Outcome<String> {
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        let why = db.why(run).await?;
        let reason = why.reasons.iter().find_map(|reason| match reason {
            Reason::HeldBack { step, why, .. } if step == of => Some(why.clone()),
            _ => None,
        });
        if let Some(told) = reason {
            assert!(why.to_string().contains(&told), "{why}");
            return Ok(told);
        }
        assert!(Instant::now() < deadline, "{why}");
        let working = Working::start(broken());
        tokio::time::sleep(Duration::from_millis(200)).await;
        working.stop().await?;
    }
}

/// What a worker of the first program did before it was replaced.
async fn complete(db: &Db, flow: &str, output: Value) -> Outcome {
    let claim = Claim::of_queues([flow], 1, WorkerId::new());
    let task = db.backend().claim(&claim).await?.tasks.pop().ok_or("no task")?;
    let settle = Settle { lease: task.lease.into(), verdict: Verdict::Completed(output) };
    assert_eq!(db.backend().settle(&[settle], None).await?.settled, [Settled::Applied]);
    Ok(())
}
