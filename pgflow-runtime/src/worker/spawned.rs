//! A worker beside what else the application does.

use std::panic::resume_unwind;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pgflow_model::with_causes;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::WorkerError;
use super::builder::Worker;
use super::health::Health;
use super::report::WorkerReport;
use super::trip::BoxFuture;

/// A worker that works in the background: see [`Worker::spawn`]. Awaited, it says how it ended.
///
/// It can be dropped: the worker goes on until its runtime ends.
#[derive(Debug)]
pub struct WorkerHandle {
    stop: CancellationToken,
    health: Health,
    work: JoinHandle<Result<WorkerReport, WorkerError>>,
}

impl Worker {
    /// Works in the background, as a task of the runtime that this is called on, beside what else the application does: it
    /// goes on when nobody awaits the handle, and until somebody [stops](WorkerHandle::stop) it. A worker that can't start
    /// says why in the log too.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let db = pgflow::Db::connect("memory:").await?;
    /// db.register(count::Flow).await?;
    /// let worker = pgflow::Worker::new(&db).flow(count::Flow).spawn();
    ///
    /// // What else the application does: it serves, and starts runs.
    /// let run = db.start(count::Flow, &7).await?;
    /// assert_eq!(run.output().await?.one, 7);
    ///
    /// worker.stop();
    /// let report = worker.await?;
    /// assert!(report.is_clean());
    /// # Ok(()) })
    /// # }
    /// ```
    ///
    /// Signals are the application's to hear: await the handle after `stop` before `main` returns, so that handlers have the
    /// grace period and results are recorded. If the runtime ends before, it is as if the future of [`run`](Self::run) were dropped.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn spawn(self) -> WorkerHandle {
        let (stop, health) = (CancellationToken::new(), self.health());
        let stopped = stop.clone().cancelled_owned();
        let work: BoxFuture<_> = Box::pin(self.run(stopped));
        let work = tokio::spawn(async {
            let ended = work.await;
            if let Err(error) = &ended {
                tracing::error!(error = %with_causes(error), "the worker has ended");
            }
            ended
        });
        WorkerHandle { stop, health, work }
    }
}

impl WorkerHandle {
    /// Asks the worker to stop, as the end of `shutdown` does in [`Worker::run`]: no more tasks are taken, and handlers have the
    /// grace period. Returns at once; await the handle for the end.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// How it is doing.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// # let db = pgflow::Db::connect("memory:").await?;
    /// let worker: pgflow::worker::WorkerHandle = pgflow::Worker::new(&db).flow(count::Flow).spawn();
    /// let health = worker.health();
    /// let error = worker.await.unwrap_err();
    /// assert!(matches!(error, pgflow::WorkerError::UnknownFlow { .. }), "it was not registered");
    /// assert_eq!(health.snapshot().phase, pgflow::worker::Phase::Stopped);
    /// # Ok(()) })
    /// # }
    /// ```
    pub fn health(&self) -> Health {
        self.health.clone()
    }
}

/// Ready when the worker has ended: how, or why it could not start.
impl Future for WorkerHandle {
    type Output = Result<WorkerReport, WorkerError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let ended = ready!(Pin::new(&mut self.work).poll(cx));
        Poll::Ready(ended.unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(_) => Err(WorkerError::RuntimeEnded),
        }))
    }
}
