//! Many who wait for runs at the same time.

use std::time::Duration;

use pgflow::prelude::*;
use pgflow::{Db, Run, RunStatus};
use pgflow_worker_tests::{Flaky, Fresh, Outcome, everywhere};
use tokio::task::JoinSet;

#[flow(slug = "echo_waiting", input = u32)]
mod echo {
    use super::*;

    #[step]
    pub(crate) async fn again(run: u32) -> Result<u32> {
        Ok(run)
    }
}

const WAITERS: u32 = 300;

everywhere!(everybody_hears_of_the_end, whoever_waits_for_nothing_is_told);

async fn runs(db: &Db) -> Outcome<Vec<Run<echo::Flow>>> {
    let mut runs = Vec::new();
    for number in 0..WAITERS {
        runs.push(db.start(echo::Flow, &number).await?);
    }
    Ok(runs)
}

async fn everybody_hears_of_the_end(fresh: Fresh) -> Outcome {
    fresh.db.register(echo::Flow).await?;
    let runs = runs(&fresh.db).await?;
    let mut waiters = JoinSet::new();
    for run in runs {
        waiters.spawn(async move { (run.wait().await, run.output().await) });
    }
    let worker = fresh.work(echo::Flow).await?;
    for (status, output) in waiters.join_all().await {
        assert_eq!(status?, RunStatus::Completed);
        output?;
    }
    worker.stop().await?;
    Ok(())
}

async fn whoever_waits_for_nothing_is_told(fresh: Fresh) -> Outcome {
    fresh.db.register(echo::Flow).await?;
    let run = fresh.db.start(echo::Flow, &1).await?;
    let (short, none) = (Duration::from_millis(50), Duration::ZERO);
    assert_eq!(run.wait_for(short).await?, None);
    assert_eq!(run.wait_for(none).await?, None);
    run.cancel(None).await?;
    assert_eq!(run.wait_for(none).await?, Some(RunStatus::Cancelled));
    assert_eq!(run.wait().await?, RunStatus::Cancelled);
    Ok(())
}

/// While runs of a flow come and go, those who wait for others of the same flow look together.
#[tokio::test]
async fn one_look_is_for_all() -> Outcome {
    let flaky = Flaky::shared();
    let db = Db::new(flaky.clone());
    db.register(echo::Flow).await?;
    let runs = runs(&db).await?;
    let mut waiters = JoinSet::new();
    for run in runs.clone() {
        waiters.spawn(async move { run.wait().await });
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    let before = flaky.calls("statuses");
    for run in &runs {
        run.cancel(None).await?;
        tokio::task::yield_now().await;
    }
    for status in waiters.join_all().await {
        assert_eq!(status?, RunStatus::Cancelled);
    }
    let looks = flaky.calls("statuses") - before;
    assert!(looks < WAITERS / 3, "{looks} looks for {WAITERS} who waited");
    Ok(())
}

/// A runtime that ends takes the task with it that looked for all: those on other runtimes go on.
#[test]
fn waiting_survives_the_runtime_of_another_waiter() -> Outcome {
    let (one, other) = (tokio::runtime::Runtime::new()?, tokio::runtime::Runtime::new()?);
    let flaky = Flaky::shared();
    let db = Db::new(flaky);
    let run = one.block_on(async {
        db.register(echo::Flow).await?;
        let run = db.start(echo::Flow, &1).await?;
        assert_eq!(run.wait_for(Duration::from_millis(20)).await?, None);
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(run)
    })?;
    let waiter = run.clone();
    // The first to wait, so its runtime has the task.
    one.spawn(async move { waiter.wait().await });
    let waiter = run.clone();
    let ended = other.spawn(async move { waiter.wait().await });
    std::thread::sleep(Duration::from_millis(50));
    drop(one);
    other.block_on(run.cancel(None))?;
    assert_eq!(other.block_on(ended)??, RunStatus::Cancelled);
    Ok(())
}
