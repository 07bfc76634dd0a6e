//! A run, and how it is doing.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use pgflow_machine::{RunId, RunStatus};
use serde_json::Value;
use tokio::time::Instant;

use super::ClientError;
use super::patience::patiently;
use super::watch::Watch;
use crate::backend::{Parts, RunRecord};
use crate::check::StepOf;
use crate::db::Db;
use crate::{Flow, RunOutputs};

/// A run of the flow `F`. It goes on whether or not anybody holds this.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
/// # async fn example(db: pgflow::Db) -> Result<(), pgflow::ClientError> {
/// let run = db.start(count::Flow, &7).await?;
/// let count::Output { one } = run.output().await?; // waits for the end
/// # assert_eq!(one, 7);
/// # Ok(())
/// # }
/// ```
pub struct Run<F> {
    pub(super) db: Db,
    pub(super) id: RunId,
    is_new: bool,
    flow: PhantomData<fn() -> F>,
}

impl<F: Flow> Run<F> {
    pub(crate) fn new(db: Db, id: RunId, is_new: bool) -> Self {
        Self { db, id, is_new, flow: PhantomData }
    }

    /// Its id.
    pub fn id(&self) -> RunId {
        self.id
    }

    /// Whether it was started just now, and was not there before.
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// How it is doing.
    pub async fn status(&self) -> Result<RunStatus, ClientError> {
        Ok(self.record(Parts::Run).await?.status)
    }

    /// The run as the database has it.
    pub async fn record(&self, parts: Parts) -> Result<RunRecord, ClientError> {
        let id = self.id;
        let record = patiently(&self.db, move |backend| backend.run(id, parts)).await?;
        record.ok_or(ClientError::UnknownRun { run: self.id })
    }

    /// Waits until it has ended, and says how.
    pub async fn wait(&self) -> Result<RunStatus, ClientError> {
        self.ended(None).await.map(|status| status.unwrap_or(RunStatus::Started))
    }

    /// Waits until it has ended, but not longer than this: `None` means that it still goes on.
    pub async fn wait_for(&self, timeout: Duration) -> Result<Option<RunStatus>, ClientError> {
        // A time that no clock will ever show is no limit.
        self.ended(Instant::now().checked_add(timeout)).await
    }

    async fn ended(&self, until: Option<Instant>) -> Result<Option<RunStatus>, ClientError> {
        let mut watch = Watch::new(&self.db);
        loop {
            let record = self.record(Parts::Run).await?;
            if record.status.has_ended() {
                return Ok(Some(record.status));
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                return Ok(None);
            }
            watch.changed(Some(&record.flow), until).await;
        }
    }

    /// Waits until it has ended, and reads its output: that of every step which no other depends on. A run
    /// that failed or was cancelled has none, and the error says why.
    pub async fn output(&self) -> Result<F::Output, ClientError> {
        self.wait().await?;
        let record = self.record(Parts::Steps).await?;
        if record.status != RunStatus::Completed {
            let (status, reason) = (record.status, reason(&record));
            return Err(ClientError::NotCompleted { run: self.id, status, reason });
        }
        let output = match record.output {
            Some(Value::Object(outputs)) => outputs,
            _ => serde_json::Map::new(),
        };
        Ok(outputs::<F>(&record.flow, output).output()?)
    }

    /// The output of a step, or `None` if it has not completed or was skipped.
    pub async fn step_output<S: StepOf<F>>(&self) -> Result<Option<S::Output>, ClientError> {
        let record = self.record(Parts::Outputs).await?;
        let steps = record.steps.into_iter().filter_map(|step| Some((step.slug, step.output?)));
        Ok(outputs::<F>(&record.flow, steps).step::<S>()?)
    }
}

/// Outputs by the names that the code has for the steps: the run may be of an earlier version.
fn outputs<F: Flow>(
    version: &str,
    outputs: impl IntoIterator<Item = (String, Value)>,
) -> RunOutputs<F> {
    let older = F::DEF.finishes.iter().find(|older| older.version_slug == version);
    let renamed = older.map_or(&[][..], |older| older.renamed);
    let current = |slug: String| {
        let new = renamed.iter().find(|(old, _)| *old == slug);
        new.map_or(slug, |(_, new)| (*new).to_owned())
    };
    RunOutputs::new(outputs.into_iter().map(|(slug, output)| (current(slug), output)))
}

/// Why a run has no output.
fn reason(record: &RunRecord) -> Option<String> {
    let failed = record
        .steps
        .iter()
        .find(|step| step.status == pgflow_machine::StepStatus::Failed && step.error.is_some());
    let error = failed
        .map(|step| format!("step `{}`: {}", step.slug, step.error.as_deref().unwrap_or_default()));
    record.cancel_reason.clone().or(error)
}

impl<F> Clone for Run<F> {
    fn clone(&self) -> Self {
        let Self { db, id, is_new, flow } = self;
        Self { db: db.clone(), id: *id, is_new: *is_new, flow: *flow }
    }
}

impl<F: Flow> fmt::Debug for Run<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Run({} {})", F::SLUG, self.id)
    }
}
