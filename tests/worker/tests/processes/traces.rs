//! One run, several processes, one trace.

use std::collections::BTreeSet;
use std::time::Duration;

use pgflow::prelude::*;
use pgflow_worker_tests::{Fresh, Outcome};

use crate::child::{self, Working, says};

const TASKS: u32 = 20;

#[flow(input = Vec<u32>, timeout = 60)]
mod shared {
    use super::*;

    #[step(map)]
    pub(crate) async fn each(item: u32) -> Result<u32> {
        tracing::info!(item, "in the handler");
        tokio::time::sleep(Duration::from_millis(100)).await;
        Ok(item)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_one_trace_in_all_processes() -> Outcome {
    if let Some(db) = child::database().await? {
        return child::work(&db, shared::Flow, Some(1)).await;
    }
    let fresh = Fresh::postgres().await?;
    fresh.db.register(shared::Flow).await?;
    let items: Vec<u32> = (0..TASKS).collect();
    let run = fresh.db.start(shared::Flow, &items).await?;
    let start = || Working::start("traces::a_run_is_one_trace_in_all_processes", &fresh.url);
    let workers = [start()?, start()?];
    assert_eq!(run.output().await?.each, items);
    let trace = run.id().to_string().replace('-', "");
    let mut seen = BTreeSet::new();
    for worker in workers {
        worker.terminate()?;
        let (status, _, log) = worker.end()?;
        assert!(status.success(), "{status}");
        let handlers: Vec<_> = log.iter().filter(|line| says(line, "in the handler")).collect();
        assert!(!handlers.is_empty(), "both had something to do");
        for line in handlers {
            let run_span = &line["spans"][0];
            assert_eq!(
                (&run_span["name"], &run_span["trace.id"]),
                (&"run".into(), &trace.as_str().into())
            );
            assert_eq!(run_span["run.id"], run.id().to_string());
            seen.insert(line["spans"][2]["index"].as_u64().ok_or("no index")?);
        }
    }
    assert_eq!(seen, (0..TASKS.into()).collect());
    Ok(())
}
