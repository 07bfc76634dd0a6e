//! SIGTERM, once and twice.

use std::time::Duration;

use pgflow::prelude::*;
use pgflow_worker_tests::{Fresh, Outcome};

use crate::child::{self, Working, report};

/// Milliseconds that each handler takes at its first attempt; later ones take no time.
#[flow(input = Vec<u64>, max_attempts = 1, timeout = 300)]
mod slow {
    use super::*;

    #[step(map)]
    pub(crate) async fn work(item: u64, ctx: Context) -> Result<u32> {
        tracing::info!("in the handler");
        if ctx.attempt() == 1 {
            tokio::time::sleep(Duration::from_millis(item)).await;
        }
        Ok(ctx.attempt())
    }
}

/// A child with three handlers that run, of five tasks.
async fn busy(
    fresh: &Fresh,
    test: &str,
    millis: u64,
) -> Outcome<(pgflow::Run<slow::Flow>, Working)> {
    fresh.db.register(slow::Flow).await?;
    let run = fresh.db.start(slow::Flow, &vec![millis; 5]).await?;
    let mut worker = Working::start(test, &fresh.url)?;
    worker.wait_for("in the handler", 3)?;
    Ok((run, worker))
}

#[tokio::test(flavor = "multi_thread")]
async fn after_sigterm_results_are_recorded_and_the_status_is_0() -> Outcome {
    if let Some(db) = child::database().await? {
        return child::work(&db, slow::Flow, Some(3)).await;
    }
    let fresh = Fresh::sqlite().await?;
    let test = "signals::after_sigterm_results_are_recorded_and_the_status_is_0";
    let (run, worker) = busy(&fresh, test, 2000).await?;
    worker.terminate()?;
    let (status, _, log) = worker.end()?;
    assert_eq!(status.code(), Some(0), "{log:?}");
    assert_eq!(report(&log), Some("3 settled, 0 superseded, 0 released, 0 lost"), "{log:?}");
    let left = run.progress().await?[0].clone();
    assert_eq!((left.done, left.tasks), (3, Some(5)), "nothing was claimed any more");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_second_sigterm_tasks_are_given_back_at_once() -> Outcome {
    if let Some(db) = child::database().await? {
        return child::work(&db, slow::Flow, Some(3)).await;
    }
    let fresh = Fresh::sqlite().await?;
    let test = "signals::after_the_second_sigterm_tasks_are_given_back_at_once";
    let (run, mut worker) = busy(&fresh, test, 250_000).await?;
    worker.terminate()?;
    // Two signals of a kind that wait together are one.
    worker.wait_for("shutting down", 1)?;
    worker.terminate()?;
    let (status, took, log) = worker.end()?;
    assert_eq!(status.code(), Some(0), "{log:?}");
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert_eq!(report(&log), Some("0 settled, 0 superseded, 3 released, 0 lost"), "{log:?}");
    // The others would take four minutes here.
    assert_eq!(run.progress().await?[0].done, 0);
    Ok(())
}
