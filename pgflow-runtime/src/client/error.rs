//! Why a request about a run can't be met.

use pgflow_cron::InvalidTimetable;
use pgflow_machine::job::{InvalidJobId, JobId, JobOutcome, JobProblem};
use pgflow_machine::log::{InvalidName, StreamKey, StreamProblem};
use pgflow_machine::schedule::{InvalidPolicy, ScheduleProblem};
use pgflow_machine::wait::{InvalidToken, SignalProblem};
use pgflow_machine::{PayloadError, RunId, RunStatus};

use crate::DataError;
use crate::backend::BackendError;

/// Why a request about a run can't be met.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// # let db = pgflow::Db::connect("memory:").await?;
/// # db.register(count::Flow).await?;
/// use pgflow::{ClientError, RunId};
///
/// let missing = db.cancel(RunId::from_key("count", "none"), None).await;
/// assert_eq!(missing?, pgflow::client::CancelOutcome::Unknown);
/// let run = db.start(count::Flow, &7).await?;
/// run.cancel(Some("not needed")).await?;
/// let error: ClientError = run.output().await.unwrap_err();
/// assert!(matches!(error, ClientError::NotCompleted { .. }));
/// # Ok(()) })
/// # }
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// A value could not be stored or read back.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A payload that no database takes. Nothing was written.
    #[error("cannot store {what}: {source}")]
    Payload {
        /// What it is.
        what: String,
        /// Why.
        source: PayloadError,
    },
    /// There is no such run.
    #[error("there is no run {run}")]
    UnknownRun {
        /// Its id.
        run: RunId,
    },
    /// The run is of another flow.
    #[error("run {run} is of flow `{flow}`, not of `{expected}`")]
    OtherFlow {
        /// Its id.
        run: RunId,
        /// The flow it is of.
        flow: String,
        /// The flow it should be of.
        expected: &'static str,
    },
    /// The run ended without an output.
    #[error("run {run} {}: {}", ended(*.status), .reason.as_deref().unwrap_or("no reason was given"))]
    NotCompleted {
        /// Its id.
        run: RunId,
        /// How it ended.
        status: RunStatus,
        /// Why.
        reason: Option<String>,
    },
    /// A text that cannot be the name of a job.
    #[error(transparent)]
    JobId(#[from] InvalidJobId),
    /// A job that was refused. Nothing of it was written.
    #[error("job `{job}` cannot be submitted: {source}")]
    Job {
        /// Its name.
        job: JobId,
        /// Why.
        source: JobProblem,
    },
    /// There is no such job.
    #[error("there is no job `{job}`")]
    UnknownJob {
        /// Its name.
        job: JobId,
    },
    /// The job ended without an output.
    #[error("job `{job}` ended as {outcome}: {}", .reason.as_deref().unwrap_or("no reason was given"))]
    JobNotDone {
        /// Its name.
        job: JobId,
        /// How it ended.
        outcome: JobOutcome,
        /// Why.
        reason: Option<String>,
    },
    /// A text that cannot be the name of a stream.
    #[error(transparent)]
    StreamName(#[from] InvalidName),
    /// A stream can't be written like this. Nothing was.
    #[error("stream `{stream}` cannot be written: {source}")]
    Stream {
        /// Which.
        stream: StreamKey,
        /// Why.
        source: StreamProblem,
    },
    /// The stream ended with an error, after all that was read.
    #[error("stream `{stream}` ended with an error: {reason}")]
    StreamFailed {
        /// Which.
        stream: StreamKey,
        /// What its writer said, or `abandoned`.
        reason: String,
    },
    /// A text that cannot be the token of a hook.
    #[error(transparent)]
    HookToken(#[from] InvalidToken),
    /// An answer that cannot be sent. Nothing was written.
    #[error(transparent)]
    Signal(#[from] SignalProblem),
    /// A schedule can't be made like this. Nothing was changed.
    #[error("schedule `{name}` cannot be made: {source}")]
    Schedule {
        /// Its name.
        name: String,
        /// Why.
        source: ScheduleProblem,
    },
    /// What is no cron expression, or no time zone.
    #[error(transparent)]
    Timetable(#[from] InvalidTimetable),
    /// What does not say what becomes of a moment of a schedule.
    #[error(transparent)]
    Policy(#[from] InvalidPolicy),
    /// There is no such schedule.
    #[error("there is no schedule `{name}`")]
    UnknownSchedule {
        /// Its name.
        name: String,
    },
    /// The database has no answer.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

pgflow_model::debug_with_causes!(ClientError);

fn ended(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Failed => "has failed",
        RunStatus::Cancelled => "was cancelled",
        RunStatus::Completed => "is completed",
        RunStatus::Started => "goes on",
    }
}
