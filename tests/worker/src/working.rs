//! A worker in the background.

use pgflow::{
    Worker,
    worker::{WorkerHandle, WorkerReport},
};

use crate::Outcome;

/// A worker in the background. Stops when dropped, and says how when asked.
#[derive(Debug)]
pub struct Working(WorkerHandle);

impl Working {
    /// Lets it work.
    pub fn start(worker: Worker) -> Self {
        Self(worker.spawn())
    }

    /// Asks it to stop, and waits until it has.
    pub async fn stop(mut self) -> Outcome<WorkerReport> {
        self.0.stop();
        Ok((&mut self.0).await?)
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.0.stop();
    }
}
