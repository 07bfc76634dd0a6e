//! A worker beside what else an application does.

use std::time::Duration;

use pgflow::prelude::*;
use pgflow::{
    RunStatus, WorkerError,
    worker::{Phase, WorkerHandle},
};
use pgflow_worker_tests::{Fresh, Outcome, everywhere};
use tokio::time::timeout;

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

#[flow(input = u32, slug = "double_in_background")]
mod double {
    #[step]
    pub(crate) async fn twice(run: u32) -> pgflow::Result<u32> {
        Ok(run * 2)
    }
}

#[flow(input = u32)]
mod unheard_of {
    #[step]
    pub(crate) async fn twice(run: u32) -> pgflow::Result<u32> {
        Ok(run)
    }
}

everywhere!(it_works_until_it_is_told_to_stop, it_goes_on_when_nobody_holds_it);

async fn spawn(fresh: &Fresh) -> Outcome<WorkerHandle> {
    fresh.db.register(double::Flow).await?;
    Ok(Worker::new(&fresh.db).flow(double::Flow).spawn())
}

async fn it_works_until_it_is_told_to_stop(fresh: Fresh) -> Outcome {
    let mut worker = spawn(&fresh).await?;
    for number in 0..3 {
        let run = fresh.db.start(double::Flow, number).await?;
        assert_eq!(timeout(PATIENCE, run.output()).await??.twice, number * 2);
    }
    let health = worker.health();
    assert_eq!(health.snapshot().phase, Phase::Working);
    worker.stop();
    worker.stop();
    let report = timeout(PATIENCE, &mut worker).await??;
    assert!(report.is_clean() && report.settled == 3, "{report}");
    assert_eq!(health.snapshot().phase, Phase::Stopped);
    let late = fresh.db.start(double::Flow, 7).await?;
    assert_eq!(late.wait_for(Duration::from_millis(50)).await?, None, "nobody works any more");
    Ok(())
}

async fn it_goes_on_when_nobody_holds_it(fresh: Fresh) -> Outcome {
    let health = spawn(&fresh).await?.health();
    let run = fresh.db.start(double::Flow, 21).await?;
    assert_eq!(timeout(PATIENCE, run.wait()).await??, RunStatus::Completed);
    assert_eq!(health.snapshot().phase, Phase::Working);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_cannot_start_says_why() -> Outcome {
    let fresh = Fresh::memory().await?;
    let worker = Worker::new(&fresh.db).flow(unheard_of::Flow).spawn();
    let error = timeout(PATIENCE, worker).await?.expect_err("it was not registered");
    assert!(matches!(error, WorkerError::UnknownFlow { flow: "unheard_of", .. }), "{error:?}");
    Ok(())
}

#[test]
fn one_whose_runtime_ends_says_so() -> Outcome {
    let runtime = tokio::runtime::Runtime::new()?;
    let worker = runtime.block_on(async { spawn(&Fresh::memory().await?).await })?;
    drop(runtime);
    let other = tokio::runtime::Runtime::new()?;
    let ended = other.block_on(async { timeout(PATIENCE, worker).await })?;
    assert!(matches!(ended, Err(WorkerError::RuntimeEnded)), "{ended:?}");
    Ok(())
}
