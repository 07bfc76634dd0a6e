//! How far the steps of a run are.

use pgflow_machine::StepStatus;

use super::{ClientError, Run};
use crate::Flow;
use crate::backend::{Parts, StepRecord, StepWork, WaitRecord};

/// How far a step is.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// # let db = pgflow::Db::connect("memory:").await?;
/// # db.register(count::Flow).await?;
/// let run = db.start(count::Flow, &7).await?;
/// let steps: Vec<pgflow::client::StepProgress> = run.progress().await?;
/// assert_eq!((steps[0].done, steps[0].tasks), (0, Some(1)));
/// # Ok(()) })
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepProgress {
    /// Its slug.
    pub step: String,
    /// What it is.
    pub status: StepStatus,
    /// Tasks that are completed.
    pub done: u32,
    /// Tasks that it has, once that is known.
    pub tasks: Option<u32>,
    /// What they are doing, while it is started: see [`StepRecord::work`].
    pub work: Option<StepWork>,
    /// What its tasks wait for that are neither worked on nor queued, the oldest first.
    pub waits: Vec<WaitRecord>,
}

impl<F: Flow> Run<F> {
    /// How far each step is, in the order of the flow.
    pub async fn progress(&self) -> Result<Vec<StepProgress>, ClientError> {
        let record = self.record(Parts::Steps).await?;
        let mut waits = self.db.open_waits(&record).await?;
        let of = |step: StepRecord| {
            let own = waits.extract_if(.., |wait| wait.task.step == step.slug).collect();
            StepProgress::of(step, own)
        };
        Ok(record.steps.into_iter().map(of).collect())
    }
}

impl StepProgress {
    fn of(step: StepRecord, waits: Vec<WaitRecord>) -> Self {
        let tasks = step.tasks;
        let done = match step.status {
            StepStatus::Completed => tasks.unwrap_or(0),
            _ => tasks.zip(step.remaining_tasks).map_or(0, |(all, left)| all.saturating_sub(left)),
        };
        Self { step: step.slug, status: step.status, done, tasks, work: step.work, waits }
    }
}
