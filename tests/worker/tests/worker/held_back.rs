//! A type changes while runs are in flight: nothing fails, everybody sees what waits and why, and a
//! program that reads what is stored goes on with it.

use std::time::{Duration, Instant};

use pgflow::prelude::*;
use pgflow::{Db, Parts, RunStatus, StepStatus, Worker};
use pgflow_machine::{Settle, Settled, Verdict, WorkerId};
use pgflow_runtime::backend::Claim;
use pgflow_worker_tests::{Fresh, Outcome, Working, everywhere};

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
    use pgflow::prelude::*;

    #[data]
    #[serde(untagged)]
    pub(crate) enum Price {
        Old(String),
        New(u32),
    }

    #[step]
    pub(crate) async fn price(run: u32) -> Result<Price> {
        Ok(Price::New(run))
    }

    #[step(depends_on = [price])]
    pub(crate) async fn bill(price: Price) -> Result<String> {
        Ok(match price {
            Price::Old(text) => format!("bill of {text}"),
            Price::New(cents) => format!("bill of {cents} cents"),
        })
    }
}

everywhere!(a_type_that_cannot_be_read_holds_the_step_back);

async fn a_type_that_cannot_be_read_holds_the_step_back(fresh: Fresh) -> Outcome {
    let db = &fresh.db;
    db.register(broken::Flow).await?;
    let run = db.start(broken::Flow, &7).await?;
    complete_price(db).await?;

    // Deployed with a type that does not fit: each worker that starts tries, and holds it back.
    let deadline = Instant::now() + Duration::from_mins(1);
    let mut held_back = 0;
    while held_back < 3 {
        assert!(Instant::now() < deadline, "it was held back {held_back} times only");
        let working = Working::start(Worker::new(db).flow(broken::Flow));
        tokio::time::sleep(Duration::from_millis(200)).await;
        held_back += working.stop().await?.released;
    }
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

/// What a worker of the first program did before it was replaced.
async fn complete_price(db: &Db) -> Outcome {
    let claim = Claim::of_queues(["sale"], 1, WorkerId::new());
    let task = db.backend().claim(&claim).await?.tasks.pop().ok_or("no task")?;
    let settle = Settle { lease: task.lease.into(), verdict: Verdict::Completed("7 cents".into()) };
    assert_eq!(db.backend().settle(&[settle], None).await?.settled, [Settled::Applied]);
    Ok(())
}
