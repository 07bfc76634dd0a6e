//! Starting runs and working on them, as an application does.

use std::time::Duration;

use futures_util::stream::{self, StreamExt, TryStreamExt};
use pgflow::{Db, Flow, Worker, worker::WorkerReport};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::tally::Tally;
use crate::error::{BenchError, Result};

/// Starts that are under way at the same time, as in a server that answers requests.
const STARTS: usize = 64;

/// Starts runs of a flow.
pub(super) async fn start_all<F: Flow + Copy>(db: &Db, flow: F, inputs: &[F::Input]) -> Result<()> {
    // Made one after the other, so that no future holds an input.
    let starts = stream::iter(inputs.iter().map(|input| db.start(flow, input)));
    let started = starts.map(|start| async { start.await.map(drop) }).buffer_unordered(STARTS);
    Ok(started.try_collect().await?)
}

/// A worker that runs until it is told to stop.
pub(super) struct Working {
    stop: oneshot::Sender<()>,
    report: JoinHandle<Result<WorkerReport, pgflow::WorkerError>>,
}

impl Working {
    pub(super) fn begin<F: Flow>(db: &Db, flow: F, tally: &Tally, concurrency: usize) -> Self {
        Self::of(Worker::new(db).flow(flow).state(tally.clone()).concurrency(concurrency))
    }

    /// Any worker.
    pub(super) fn of(worker: Worker) -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        let run = worker.run(async { _ = stopped.await });
        Self { stop, report: tokio::spawn(run) }
    }

    /// Everything that was claimed is settled when this returns.
    pub(super) async fn end(self) -> Result<WorkerReport> {
        // A worker that failed is not there to hear it, and says why below.
        let _ = self.stop.send(());
        Ok(self.report.await.map_err(BenchError::Task)??)
    }
}

/// Works until all last steps are settled, or for as long as `window`; returns how many were.
pub(super) async fn drain<F: Flow>(
    db: &Db,
    flow: F,
    tally: &Tally,
    concurrency: usize,
    window: Duration,
) -> Result<u32> {
    until_ended(Working::begin(db, flow, tally, concurrency), tally, window).await
}

/// Lets a worker go on until all last steps are settled, or for as long as `window`; returns how many were.
pub(super) async fn until_ended(working: Working, tally: &Tally, window: Duration) -> Result<u32> {
    let all = tally.left();
    // Too slow is a result as well.
    let _ = tokio::time::timeout(window, tally.all_ended()).await;
    let left = tally.left();
    working.end().await?;
    Ok(all - left)
}
