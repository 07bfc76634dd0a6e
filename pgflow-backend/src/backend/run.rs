//! Runs, from the outside.

use pgflow_machine::{RunId, RunStatus, SkipReason, StepStatus, Timestamp, WorkerId};
use serde_json::Value;

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
/// let alone = run.record(pgflow::client::Parts::Run).await?;
/// assert_eq!((alone.steps.len(), alone.input), (0, Some(7.into())));
/// let with_steps = run.record(pgflow::client::Parts::Steps).await?;
/// assert_eq!((with_steps.steps.len(), with_steps.input), (1, None));
/// # Ok(()) })
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// Its state, what it was given and what it output.
    Run,
    /// Its state and that of its steps, without what they and the run were given or output.
    Steps,
    /// All of it.
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
/// let record: pgflow::client::RunRecord = run.record(pgflow::client::Parts::Run).await?;
/// assert_eq!((record.id, record.remaining_steps), (run.id(), 1));
/// assert_eq!(record.input, Some(7.into()));
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
    /// What it was given; nothing unless asked for.
    pub input: Option<Value>,
    /// Outputs of its last steps by slug, once it has completed; nothing unless asked for.
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
/// let record = run.record(pgflow::client::Parts::Steps).await?;
/// let step: &pgflow::client::StepRecord = &record.steps[0];
/// assert_eq!((step.slug.as_str(), step.tasks), ("one", Some(1)));
/// # Ok(()) })
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct StepRecord {
    /// Its slug.
    pub slug: String,
    /// Whether it has a task per element, and outputs an array of what they output.
    pub is_map: bool,
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
    /// What its tasks are doing, while it is started.
    pub work: Option<StepWork>,
}

/// What the tasks of a started step are doing: whether somebody works on them, or what they wait for.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// # let db = pgflow::Db::connect("memory:").await?;
/// # db.register(count::Flow).await?;
/// let run = db.start(count::Flow, &7).await?;
/// let steps = run.progress().await?;
/// let work: &pgflow::client::StepWork = steps[0].work.as_ref().expect("it is started");
/// assert_eq!((work.attempts, work.running, &work.last_error), (0, 0, &None));
/// assert!(work.next_at.is_some(), "it waits for a worker");
/// # Ok(()) })
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepWork {
    /// Attempts of all its tasks so far, without those that were given back. As everything here, only of some tasks if
    /// there are more than [`MOST_TASKS`](Self::MOST_TASKS).
    pub attempts: u32,
    /// Tasks that a worker has.
    pub running: u32,
    /// The worker that has the first of them.
    pub worker: Option<WorkerId>,
    /// What an attempt of an open task failed with: the last one of the task that was tried most often.
    pub last_error: Option<String>,
    /// Why a task waits whose worker gave it back for a reason, such as data that it cannot read: the first of them.
    pub yielded: Option<String>,
    /// When the next task that waits may be claimed: in the past if it waits for a worker, later if it waits for
    /// its next attempt.
    pub next_at: Option<Timestamp>,
}

/// A task as [`StepWork`] sees it.
#[derive(Debug)]
pub struct TaskWork {
    /// Attempts that count.
    pub attempts: u32,
    /// Who has it.
    pub worker: Option<WorkerId>,
    /// What its last failure said.
    pub error: Option<String>,
    /// Why it waits, if its last attempt was yielded.
    pub yielded: Option<String>,
    /// When it may be claimed, if it waits.
    pub ready_at: Option<Timestamp>,
    /// It is done.
    pub is_completed: bool,
}

impl StepWork {
    /// Of maps of more tasks not all are looked at.
    pub const MOST_TASKS: u32 = 1_000;
    /// But so many of those that can be claimed or wait, from both ends of their queue, and of those that a worker has: what
    /// stands in the same queue counts, so that a look costs the same however wide a map is.
    pub const SOME_TASKS: u32 = 500;

    /// From a step's tasks, by index.
    pub fn of(tasks: impl IntoIterator<Item = TaskWork>) -> Self {
        let (mut work, mut most) = (Self::default(), None);
        for task in tasks {
            work.attempts = work.attempts.saturating_add(task.attempts);
            if task.is_completed {
                continue;
            }
            work.running += u32::from(task.worker.is_some());
            work.worker = work.worker.or(task.worker);
            work.yielded = work.yielded.or(task.yielded);
            work.next_at = work.next_at.into_iter().chain(task.ready_at).min();
            if task.error.is_some() && most.is_none_or(|most| task.attempts > most) {
                (work.last_error, most) = (task.error, Some(task.attempts));
            }
        }
        work
    }
}

/// Which runs to list.
///
/// ```
/// use pgflow::{RunStatus, client::RunQuery};
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
    /// Only those that began at this moment or later.
    pub since: Option<Timestamp>,
    /// Only after this one in the list: the last of the page before.
    pub after: Option<(Timestamp, RunId)>,
    /// How many.
    pub max: u32,
}

impl Default for RunQuery {
    fn default() -> Self {
        Self { flows: Vec::new(), statuses: Vec::new(), since: None, after: None, max: 50 }
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
/// let page = db.list(&pgflow::client::RunQuery::default()).await?;
/// let summary: &pgflow::client::RunSummary = &page.runs[0];
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
