//! Why a simulation cannot do what a test asks for.

use pgflow_machine::RunId;
use pgflow_machine::job::JobId;

use crate::client::ClientError;
use crate::worker::WorkerError;

/// Why a simulation cannot do what a test asks for.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum SimError {
    /// No worker would start with these flows.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// A client would be refused, or the run has no such output.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The run has not ended.
    #[error("run {run} has not ended\nhelp: let it go on first, with `run_until_idle`")]
    NotEnded {
        /// Its id.
        run: RunId,
    },
    /// The job has not ended.
    #[error("job {job} has not ended\nhelp: let it go on first, with `run_until_idle`")]
    JobNotEnded {
        /// Its id.
        job: JobId,
    },
}

pgflow_model::debug_with_causes!(SimError);
