//! A worker in the background.

use pgflow::{Worker, WorkerError, WorkerReport};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::Outcome;

/// A worker in the background. Stops when dropped, and says how when asked.
#[derive(Debug)]
pub struct Working {
    stop: oneshot::Sender<()>,
    report: JoinHandle<Result<WorkerReport, WorkerError>>,
}

impl Working {
    /// Lets it work.
    pub fn start(worker: Worker) -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        let report = tokio::spawn(worker.run(async {
            _ = stopped.await;
        }));
        Self { stop, report }
    }

    /// Asks it to stop, and waits until it has.
    pub async fn stop(self) -> Outcome<WorkerReport> {
        drop(self.stop);
        Ok(self.report.await??)
    }
}
