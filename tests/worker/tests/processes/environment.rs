//! What variables do to a worker.

use std::time::Duration;

use pgflow::memory::Memory;
use pgflow::prelude::*;
use pgflow_worker_tests::{Fresh, Outcome};

use crate::child::{self, Working, says};

#[flow(input = Vec<u32>, timeout = 60)]
mod wide {
    use super::*;

    #[step(map)]
    pub(crate) async fn each(item: u32) -> Result<u32> {
        tracing::info!("in the handler");
        // Longer than it takes to notice a signal on any machine.
        tokio::time::sleep(Duration::from_secs(50)).await;
        Ok(item)
    }
}

const TEST: &str = "environment::a_variable_says_how_many_tasks_run_at_once";
const VARIABLE: &str = "WORKFLOW_POSTGRES_WORKER_CONCURRENCY";

#[tokio::test(flavor = "multi_thread")]
async fn a_variable_says_how_many_tasks_run_at_once() -> Outcome {
    if let Some(db) = child::database().await? {
        return child::work(&db, wide::Flow, None).await;
    }
    let fresh = Fresh::sqlite().await?;
    fresh.db.register(wide::Flow).await?;
    fresh.db.start(wide::Flow, &vec![0; 10]).await?;
    let mut worker = Working::start_with(TEST, &fresh.url, &[(VARIABLE, "2")])?;
    worker.wait_for("in the handler", 2)?;
    worker.terminate()?;
    worker.wait_for("shutting down", 1)?;
    worker.terminate()?;
    let (status, _, log) = worker.end()?;
    let began = log.iter().filter(|line| says(line, "in the handler")).count();
    assert_eq!((status.code(), began), (Some(0), 2), "{log:?}");

    let worker = Working::start_with(TEST, &fresh.url, &[(VARIABLE, "lots")])?;
    let (status, _, log) = worker.end()?;
    assert!(!status.success());
    let text = format!("{log:?}");
    assert!(text.contains(VARIABLE) && text.contains("lots"), "{text}");
    Ok(())
}

const PREFIX_TEST: &str = "environment::a_prefix_of_queues_is_refused";
const PREFIX: &str = "WORKFLOW_POSTGRES_JOB_PREFIX";

/// A program that connects is refused, and so is a worker that somebody else has connected.
#[tokio::test(flavor = "multi_thread")]
async fn a_prefix_of_queues_is_refused() -> Outcome {
    if std::env::var_os(PREFIX).is_some() {
        let db = Db::new(Memory::in_real_time());
        db.register(wide::Flow).await?;
        let report = Worker::new(&db).flow(wide::Flow).run(std::future::ready(())).await;
        return match (report, child::database().await) {
            (Ok(_), Ok(_)) => Ok(()),
            (Err(worker), Err(client)) => Err(format!("{worker} {client}").into()),
            (report, _) => Err(format!("one of both was refused: {report:?}").into()),
        };
    }
    for (prefix, is_refused) in [("staging_", true), ("", false)] {
        let worker = Working::start_with(PREFIX_TEST, "memory:", &[(PREFIX, prefix)])?;
        let (status, _, log) = worker.end()?;
        let text = format!("{log:?}");
        assert_eq!(status.success(), !is_refused, "{text}");
        let said = text.matches("WORKFLOW_POSTGRES_JOB_PREFIX is `staging_`, and").count();
        assert_eq!(said, if is_refused { 2 } else { 0 }, "{text}");
    }
    Ok(())
}
