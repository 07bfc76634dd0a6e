//! Runs that have just ended.

use pgflow_machine::{RunId, RunStatus};

/// Runs that ended, by `flow` (its version) and `status`: completed, failed or cancelled.
const ENDED: &str = "pgflow_runs_ended_total";

/// A run that has just ended, by what a backend was asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedRun {
    /// Which one.
    pub run: RunId,
    /// Slug of its version of the flow.
    pub flow: String,
    /// How.
    pub status: RunStatus,
    /// What it failed with.
    pub error: Option<String>,
}

impl EndedRun {
    /// Counts it, and has the log say so. A backend calls this once its transaction is committed: in the process that ended the
    /// run, be it a worker's result, its sweep, or somebody's cancel.
    pub fn announce(&self) {
        let (run, flow, status) = (self.run, self.flow.as_str(), self.status.word());
        metrics::counter!(ENDED, "flow" => self.flow.clone(), "status" => status).increment(1);
        match self.status {
            RunStatus::Failed => {
                let error = self.error.as_deref();
                tracing::warn!(%run, flow, error, "a run has failed");
            }
            RunStatus::Cancelled => tracing::info!(%run, flow, "a run was cancelled"),
            _ => tracing::info!(%run, flow, "a run has {status}"),
        }
    }
}

/// Tells whoever records metrics what it means.
pub fn describe() {
    metrics::describe_counter!(ENDED, "Runs that ended, by how");
}
