//! Runs, from the outside.

use pgflow_machine::{RunId, RunStatus, SkipReason, StepStatus, Timestamp};
use serde_json::Value;

/// A run to start.
#[derive(Clone, Debug, PartialEq)]
pub struct NewRun {
    /// Name of the flow; its newest version is used.
    pub flow: String,
    /// What it is given.
    pub input: Value,
    /// Its id. If there is a run of this id, that one is meant, and it keeps its own input.
    pub id: RunId,
}

/// What became of a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Started {
    /// The run began.
    Created,
    /// There was a run of this id.
    Existing,
}

/// What became of a cancellation.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// # let db = pgflow::Db::connect("memory:").await?;
/// # db.register(count::Flow).await?;
/// let run = db.start(count::Flow, &7).await?;
/// assert_eq!(run.cancel(Some("not needed")).await?, pgflow::CancelOutcome::Cancelled);
/// let again = run.cancel(Some("not needed")).await?;
/// assert_eq!(again, pgflow::CancelOutcome::Ended(pgflow::RunStatus::Cancelled));
/// # Ok(()) })
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// The run ended now.
    Cancelled,
    /// It had ended before, like this.
    Ended(RunStatus),
    /// There is no such run.
    Unknown,
}

/// What became of a retry.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// # let db = pgflow::Db::connect("memory:").await?;
/// # db.register(count::Flow).await?;
/// let run = db.start(count::Flow, &7).await?;
/// assert_eq!(run.retry().await?, pgflow::Retried::NotFailed(pgflow::RunStatus::Started));
/// # Ok(()) })
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retried {
    /// The run goes on.
    Retried,
    /// It has not failed, and was left as it is.
    NotFailed(RunStatus),
    /// There is no such run.
    Unknown,
}

/// How much of a run to read.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// # let db = pgflow::Db::connect("memory:").await?;
/// # db.register(count::Flow).await?;
/// let run = db.start(count::Flow, &7).await?;
/// assert!(run.record(pgflow::Parts::Run).await?.steps.is_empty());
/// assert_eq!(run.record(pgflow::Parts::Steps).await?.steps.len(), 1);
/// # Ok(()) })
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// Its state.
    Run,
    /// And that of its steps, without what they output.
    Steps,
    /// And outputs.
    Outputs,
}

/// A run as the database has it.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// # let db = pgflow::Db::connect("memory:").await?;
/// # db.register(count::Flow).await?;
/// let run = db.start(count::Flow, &7).await?;
/// let record: pgflow::RunRecord = run.record(pgflow::Parts::Run).await?;
/// assert_eq!((record.id, record.remaining_steps), (run.id(), 1));
/// assert_eq!(record.input, 7);
/// # Ok(()) })
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// Its id.
    pub id: RunId,
    /// Slug of its version of the flow.
    pub flow: String,
    /// What it is.
    pub status: RunStatus,
    /// What it was given.
    pub input: Value,
    /// Outputs of its last steps by slug, once it has completed.
    pub output: Option<Value>,
    /// Steps that have not ended.
    pub remaining_steps: u32,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Why it was cancelled.
    pub cancel_reason: Option<String>,
    /// Its steps, in the order of the flow; empty unless asked for.
    pub steps: Vec<StepRecord>,
}

/// A step of a run as the database has it.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// # let db = pgflow::Db::connect("memory:").await?;
/// # db.register(count::Flow).await?;
/// let run = db.start(count::Flow, &7).await?;
/// let record = run.record(pgflow::Parts::Steps).await?;
/// let step: &pgflow::StepRecord = &record.steps[0];
/// assert_eq!((step.slug.as_str(), step.tasks), ("one", Some(1)));
/// # Ok(()) })
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct StepRecord {
    /// Its slug.
    pub slug: String,
    /// What it is.
    pub status: StepStatus,
    /// Dependencies it waits for.
    pub remaining_deps: u32,
    /// How many tasks it has, once that is known.
    pub tasks: Option<u32>,
    /// How many of them are not completed; nothing before it starts and after it was skipped.
    pub remaining_tasks: Option<u32>,
    /// What it output; nothing unless asked for.
    pub output: Option<Value>,
    /// Why it failed or was skipped.
    pub error: Option<String>,
    /// Why it was skipped.
    pub skip_reason: Option<SkipReason>,
}

/// Which runs to list.
///
/// ```
/// use pgflow::{RunQuery, RunStatus};
///
/// let failed = RunQuery { statuses: vec![RunStatus::Failed], ..RunQuery::default() };
/// assert_eq!(failed.max, 50);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RunQuery {
    /// Only of these flows, all versions of each; of all if empty.
    pub flows: Vec<String>,
    /// Only with one of these; with any if empty.
    pub statuses: Vec<RunStatus>,
    /// Only after this one in the list: the last of the page before.
    pub after: Option<(Timestamp, RunId)>,
    /// How many.
    pub max: u32,
}

impl Default for RunQuery {
    fn default() -> Self {
        Self { flows: Vec::new(), statuses: Vec::new(), after: None, max: 50 }
    }
}

/// A run in a list.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// # let db = pgflow::Db::connect("memory:").await?;
/// # db.register(count::Flow).await?;
/// let run = db.start(count::Flow, &7).await?;
/// let page = db.list(&pgflow::RunQuery::default()).await?;
/// let summary: &pgflow::RunSummary = &page.runs[0];
/// assert_eq!((summary.id, summary.flow.as_str()), (run.id(), "count"));
/// # Ok(()) })
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSummary {
    /// Its id.
    pub id: RunId,
    /// Slug of its version of the flow.
    pub flow: String,
    /// What it is.
    pub status: RunStatus,
    /// Steps that have not ended.
    pub remaining_steps: u32,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}
