//! SIGTERM, once and twice.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pgflow::prelude::*;
use pgflow_worker_tests::{Fresh, Outcome};

use crate::child::{self, Working, report, says};

/// The file that lets handlers end.
const GATE: &str = "PGFLOW_TEST_GATE";

#[flow(input = Vec<u32>, max_attempts = 1, timeout = 300)]
mod slow {
    use super::*;

    #[step(map)]
    pub(crate) async fn work(item: u32) -> Result<u32> {
        tracing::info!("in the handler");
        let gate = std::env::var_os(GATE).ok_or("no gate")?;
        while !Path::new(&gate).exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(item)
    }
}

/// Where there is no file yet.
fn gate(test: &str) -> PathBuf {
    std::env::temp_dir().join(format!("pgflow-{test}-{}", std::process::id()))
}

/// A child with three handlers that run, of five tasks, and take no more: it was told to stop.
async fn stopping(
    fresh: &Fresh,
    test: &str,
    gate: &Path,
) -> Outcome<(pgflow::Run<slow::Flow>, Working)> {
    fresh.db.register(slow::Flow).await?;
    let run = fresh.db.start(slow::Flow, &vec![1; 5]).await?;
    let gate = gate.to_str().ok_or("a path that is no text")?;
    let mut worker = Working::start_with(test, &fresh.url, &[(GATE, gate)])?;
    worker.wait_for("in the handler", 3)?;
    worker.terminate()?;
    worker.wait_for("shutting down", 1)?;
    Ok((run, worker))
}

#[tokio::test(flavor = "multi_thread")]
async fn after_sigterm_results_are_recorded_and_the_status_is_0() -> Outcome {
    if let Some(db) = child::database().await? {
        return child::work(&db, slow::Flow, Some(3)).await;
    }
    let fresh = Fresh::sqlite().await?;
    let test = "signals::after_sigterm_results_are_recorded_and_the_status_is_0";
    let gate = gate("recorded");
    let (run, worker) = stopping(&fresh, test, &gate).await?;
    std::fs::write(&gate, "")?;
    let (status, _, log) = worker.end()?;
    std::fs::remove_file(&gate)?;
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
    let (run, worker) = stopping(&fresh, test, &gate("given-back")).await?;
    worker.terminate()?;
    let (status, took, log) = worker.end()?;
    assert_eq!(status.code(), Some(0), "{log:?}");
    assert!(took < Duration::from_mins(5), "the handlers were not waited for: {took:?}");
    assert_eq!(report(&log), Some("0 settled, 0 superseded, 3 released, 0 lost"), "{log:?}");
    assert_eq!(run.progress().await?[0].done, 0);
    Ok(())
}

const AGES: Duration = Duration::from_mins(1);

#[flow(max_attempts = 1, timeout = 300)]
mod blocking {
    use super::*;

    #[step]
    pub(crate) async fn work() -> Result<u32> {
        tracing::info!("in the handler");
        std::thread::sleep(AGES);
        tracing::info!("it was waited for");
        Ok(1)
    }
}

/// The handler cannot be aborted, and the runtime would wait for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_handler_that_blocks_does_not_keep_the_process_from_ending() -> Outcome {
    if let Some(db) = child::database().await? {
        return child::work_first(&db, blocking::Flow, async {}).await;
    }
    let fresh = Fresh::sqlite().await?;
    fresh.db.register(blocking::Flow).await?;
    fresh.db.start(blocking::Flow, &()).await?;
    let test = "signals::a_handler_that_blocks_does_not_keep_the_process_from_ending";
    let mut worker = Working::start(test, &fresh.url)?;
    worker.wait_for("in the handler", 1)?;
    worker.terminate()?;
    let (status, _, log) = worker.end()?;
    assert_eq!(status.code(), Some(0), "{log:?}");
    assert!(!log.iter().any(|line| says(line, "it was waited for")), "{log:?}");
    assert_eq!(report(&log), Some("0 settled, 0 superseded, 1 released, 0 lost"), "{log:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_ends_the_process_whenever_it_comes() -> Outcome {
    if let Some(db) = child::database().await? {
        let afterwards = async {
            tokio::time::sleep(AGES).await;
            tracing::info!("it was waited for");
        };
        return child::work_first(&db, blocking::Flow, afterwards).await;
    }
    let fresh = Fresh::sqlite().await?;
    fresh.db.register(blocking::Flow).await?;
    let test = "signals::a_second_signal_ends_the_process_whenever_it_comes";
    let mut worker = Working::start(test, &fresh.url)?;
    worker.wait_for("serving", 1)?;
    worker.terminate()?;
    worker.wait_for("the worker has ended", 1)?;
    worker.terminate()?;
    let (status, _, log) = worker.end()?;
    assert_eq!(status.code(), Some(0), "{log:?}");
    assert!(!log.iter().any(|line| says(line, "it was waited for")), "{log:?}");
    Ok(())
}
