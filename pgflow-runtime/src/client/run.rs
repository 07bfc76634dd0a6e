//! A run, and how it is doing.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::time::Duration;

use pgflow_machine::{RunId, RunStatus, StepStatus};
use serde_json::Value;
use tokio::time::{Instant, timeout};

use super::ClientError;
use super::patience::patiently;
use super::waiting::statuses;
use super::watch::Watch;
use crate::backend::{Backend, BackendError, Parts, Reply, RunRecord, RunSummary, StepRecord};
use crate::check::{Lasts, StepOf};
use crate::db::Db;
use crate::{Flow, FlowDef, RunOutputs};

/// How long the look at the end of [`Run::wait_for`] may take.
const LAST_LOOK: Duration = Duration::from_secs(3);

/// A run of the flow `F`. It goes on when this is dropped.
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

impl<F> Run<F> {
    pub(crate) fn new(db: Db, id: RunId, is_new: bool) -> Self {
        Self { db, id, is_new, flow: PhantomData }
    }
}

impl<F: Flow> Run<F> {
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
        Ok(known(&self.db, self.id).await?.status)
    }

    /// The run as the database has it.
    pub async fn record(&self, parts: Parts) -> Result<RunRecord, ClientError> {
        self.db.record(self.id, parts).await
    }

    /// Waits until it has ended, and says how.
    pub async fn wait(&self) -> Result<RunStatus, ClientError> {
        ended(&self.db, self.id, None).await.map(|status| status.unwrap_or(RunStatus::Started))
    }

    /// Waits until it has ended, but not longer than this: `None` means that it still goes on. A database that does not answer
    /// is an error, three seconds later.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn wait_for<D>(&self, timeout: D) -> Ending<'_> where Self: Lasts<D> {
        // A time that no clock will ever show is no limit.
        let until = Instant::now().checked_add(<Self as Lasts<D>>::time(timeout));
        Box::pin(ended(&self.db, self.id, until))
    }

    /// Waits until it has ended, and reads its output: that of every step which no other depends on. A run
    /// that failed or was cancelled has none, and the error says why.
    pub async fn output(&self) -> Result<F::Output, ClientError> {
        if self.wait().await? != RunStatus::Completed {
            let record = self.record(Parts::Steps).await?;
            let (status, reason) = (record.status, reason(&record));
            return Err(ClientError::NotCompleted { run: self.id, status, reason });
        }
        let record = self.record(Parts::Run).await?;
        let output = match record.output {
            Some(Value::Object(outputs)) => outputs,
            _ => serde_json::Map::new(),
        };
        Ok(outputs::<F>(&record.flow, output).output()?)
    }

    /// The output of a step, or `None` if it has not completed or was skipped.
    pub fn step_output<S: StepOf<F>>(&self) -> StepOutput<'_, S::Read> {
        Box::pin(async {
            let record = self.record(Parts::Steps).await?;
            let slug = renamed::<F>(&record.flow, S::SLUG, |(old, new)| (new, old));
            let step = record.steps.into_iter().find(|step| step.slug == slug);
            let Some(step) = step.filter(|step| step.status == StepStatus::Completed) else {
                return Ok(None);
            };
            let output = self.whole_output(&step).await?;
            Ok(outputs::<F>(&record.flow, [(step.slug, output)]).step::<S>()?)
        })
    }

    /// What a completed step output, page by page: it may be large.
    async fn whole_output(&self, step: &StepRecord) -> Result<Value, ClientError> {
        let mut outputs = Vec::new();
        let tasks = step.tasks.unwrap_or(0) as usize;
        while outputs.len() < tasks {
            let (run, slug, first) = (self.id, step.slug.clone(), outputs.len());
            let first = u32::try_from(first).unwrap_or(u32::MAX);
            let page = patiently(&self.db, move |db| page(db, run, slug.clone(), first)).await?;
            if page.is_empty() {
                return Err(ClientError::UnknownRun { run: self.id });
            }
            outputs.extend(page);
        }
        Ok(if step.is_map { Value::Array(outputs) } else { outputs.pop().unwrap_or_default() })
    }
}

fn page(backend: &dyn Backend, run: RunId, step: String, first: u32) -> Reply<'_, Vec<Value>> {
    Box::pin(async move { backend.outputs(run, &step, first).await })
}

/// How a run is doing, if there is such a run.
pub(super) async fn summary(db: &Db, run: RunId) -> Result<Option<RunSummary>, ClientError> {
    Ok(patiently(db, move |backend| statuses(backend, vec![run])).await?.pop())
}

/// How a run is doing that must be there, without anything of what it was given or output.
async fn known(db: &Db, run: RunId) -> Result<RunSummary, ClientError> {
    summary(db, run).await?.ok_or(ClientError::UnknownRun { run })
}

/// Waits until a run has ended, but not longer than this: `None` means that it still goes on.
pub(super) async fn ended(
    db: &Db,
    run: RunId,
    until: Option<Instant>,
) -> Result<Option<RunStatus>, ClientError> {
    // What is in memory costs nothing to look at, and may be used without a runtime that could run a task.
    if !db.backend().abilities().holds_connections {
        return ended_alone(db, run, until).await;
    }
    match db.waiting().ended(db.backend(), &run, until).await? {
        Some(status) => Ok(Some(status)),
        None => last_look(db, run).await,
    }
}

/// How a run is when the time is over, asked once and briefly.
async fn last_look(db: &Db, run: RunId) -> Result<Option<RunStatus>, ClientError> {
    let found = timeout(LAST_LOOK, known(db, run)).await;
    let no_answer = |elapsed| BackendError::Unreachable(Box::new(elapsed));
    Ok(Some(found.map_err(no_answer)??.status).filter(|status| status.has_ended()))
}

async fn ended_alone(
    db: &Db,
    run: RunId,
    until: Option<Instant>,
) -> Result<Option<RunStatus>, ClientError> {
    let mut watch = Watch::new(db);
    loop {
        let found = known(db, run).await?;
        if found.status.has_ended() {
            return Ok(Some(found.status));
        }
        if until.is_some_and(|until| Instant::now() >= until) {
            return Ok(None);
        }
        watch.changed(Some(&found.flow), until).await;
    }
}

/// A type that does not mention the step: of a wrong one, the compiler would say so at each mention.
type StepOutput<'a, T> = Pin<Box<dyn Future<Output = Result<Option<T>, ClientError>> + Send + 'a>>;

/// Outputs by the names that the code has for the steps: the run may be of an earlier version.
fn outputs<F: Flow>(
    version: &str,
    outputs: impl IntoIterator<Item = (String, Value)>,
) -> RunOutputs<F> {
    let current = |slug: String| renamed::<F>(version, &slug, |names| names).to_owned();
    RunOutputs::new(outputs.into_iter().map(|(slug, output)| (current(slug), output)))
}

/// A step's slug under its other name: from the first to the second of what `pair` makes of a version's own name and
/// the code's.
fn renamed<'a, F: Flow>(
    version: &str,
    slug: &'a str,
    pair: impl Fn((&'static str, &'static str)) -> (&'static str, &'static str),
) -> &'a str {
    renamed_in(F::DEF, version, slug, pair)
}

/// The same for a flow that is known by its definition.
pub(super) fn renamed_in<'a>(
    flow: &'static FlowDef,
    version: &str,
    slug: &'a str,
    pair: impl Fn((&'static str, &'static str)) -> (&'static str, &'static str),
) -> &'a str {
    let older = flow.finishes.iter().find(|older| older.version_slug == version);
    let names = older.map_or(&[][..], |older| older.renamed).iter();
    names.map(|names| pair(*names)).find(|(from, _)| *from == slug).map_or(slug, |(_, to)| to)
}

/// Why a run has no output.
fn reason(record: &RunRecord) -> Option<String> {
    let failed =
        record.steps.iter().find(|step| step.status == StepStatus::Failed && step.error.is_some());
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

/// A type that does not mention what was given as a time: of what is none, the compiler would say so at each mention.
type Ending<'a> = Pin<Box<dyn Future<Output = Result<Option<RunStatus>, ClientError>> + Send + 'a>>;
