//! What variables do to a worker.

use std::time::Duration;

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
