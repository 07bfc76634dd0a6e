//! A run as pages show it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use pgflow_model::{FlowShape, StepShape};
use pgflow_runtime::backend::{
    Backend, Parts, RunRecord, StepRecord, StepTimes, WaitQuery, WaitRecord,
};
use pgflow_runtime::{RunId, RunStatus, StepStatus, Timestamp};

use crate::app::App;
use crate::error::PageError;
use crate::html::status::Look;

/// A run, its graph, and when what happened; no payload.
pub(crate) struct RunView {
    pub(crate) record: RunRecord,
    pub(crate) shape: Option<Arc<FlowShape>>,
    pub(crate) times: Vec<StepTimes>,
    /// What its tasks wait for from outside; some of it, if that is much.
    pub(crate) waits: Vec<WaitRecord>,
}

/// Waits of a run that are looked at.
const WAITS: u32 = 100;

impl RunView {
    pub(crate) async fn read(app: &App, id: RunId) -> Result<Self, PageError> {
        let backend = app.db.backend();
        let unknown = || PageError::NotFound(format!("there is no run {id}"));
        let record = backend.run(id, Parts::Steps).await?.ok_or_else(unknown)?;
        let times = backend.step_times(id).await?;
        let shape = app.shapes.of(&**backend, &record).await?;
        let waits = waits(&**backend, &record).await?;
        Ok(Self { record, shape, times, waits })
    }

    /// Its steps, in the order of the flow.
    pub(crate) fn steps(&self) -> impl Iterator<Item = StepView<'_>> {
        let times: HashMap<_, _> = self.times.iter().map(|times| (&*times.slug, times)).collect();
        let view = move |step| StepView {
            record: step,
            times: times.get(&*step.slug).copied(),
            look: self.look(step),
        };
        self.record.steps.iter().map(view)
    }

    /// A step by its slug.
    pub(crate) fn step(&self, slug: &str) -> Option<StepView<'_>> {
        self.steps().find(|step| step.record.slug == slug)
    }

    fn look(&self, record: &StepRecord) -> Look {
        match look(record, self.record.status) {
            Look::Queued if self.waits.iter().any(|wait| wait.task.step == record.slug) => {
                Look::Waiting
            }
            look => look,
        }
    }

    /// Slugs of what a step depends on.
    pub(crate) fn depends_on(&self, slug: &str) -> &[String] {
        self.shaped().iter().find(|step| step.slug == slug).map_or(&[], |step| &step.depends_on)
    }

    fn shaped(&self) -> &[StepShape] {
        self.shape.as_ref().map_or(&[], |shape| &shape.steps)
    }

    /// Steps that no other depends on: what they put out is what the run puts out.
    pub(crate) fn last_steps(&self) -> impl Iterator<Item = StepView<'_>> {
        let before: HashSet<_> = self.shaped().iter().flat_map(|step| &step.depends_on).collect();
        self.steps().filter(move |step| !before.contains(&step.record.slug))
    }

    /// How long it took; nothing while it goes on.
    pub(crate) fn took(&self) -> Option<Duration> {
        self.record.ended_at.map(|ended| self.record.started_at.saturating_until(ended))
    }
}

async fn waits(backend: &dyn Backend, run: &RunRecord) -> Result<Vec<WaitRecord>, PageError> {
    match backend.waits() {
        Ok(waits) if !run.status.has_ended() => {
            let query = WaitQuery { run: Some(run.id), max: WAITS, ..WaitQuery::default() };
            Ok(waits.list_waits(&query).await?)
        }
        _ => Ok(Vec::new()),
    }
}

/// A step of a run as pages show it.
#[derive(Clone, Copy)]
pub(crate) struct StepView<'a> {
    pub(crate) record: &'a StepRecord,
    times: Option<&'a StepTimes>,
    pub(crate) look: Look,
}

impl StepView<'_> {
    pub(crate) fn started_at(&self) -> Option<Timestamp> {
        self.times?.started_at
    }

    pub(crate) fn ended_at(&self) -> Option<Timestamp> {
        self.times?.ended_at
    }

    pub(crate) fn took(&self) -> Option<Duration> {
        Some(self.started_at()?.saturating_until(self.ended_at()?))
    }

    /// Tasks that are completed, and all of them once that is known.
    pub(crate) fn tasks(&self) -> (u32, Option<u32>) {
        let all = self.record.tasks;
        let done = match (self.record.status, self.record.remaining_tasks) {
            (StepStatus::Completed, _) => all.unwrap_or(0),
            (_, left) => all.zip(left).map_or(0, |(all, left)| all.saturating_sub(left)),
        };
        (done, all)
    }

    /// How much of a map is done, in hundredths: never all of it before it is.
    pub(crate) fn ring(&self) -> Option<u32> {
        let (done, all) = self.tasks();
        let hundredths = match all {
            None => 0,
            Some(0) => 100,
            Some(all) => u32::try_from(u64::from(done) * 100 / u64::from(all)).unwrap_or(100),
        };
        self.record.is_map.then_some(hundredths)
    }

    /// What its last attempt said: of the step if it has ended, of a task that waits for a reason or was tried most often otherwise.
    pub(crate) fn error(&self) -> Option<&str> {
        let of_work = || {
            let work = self.record.work.as_ref()?;
            work.yielded.as_deref().or(work.last_error.as_deref())
        };
        self.record.error.as_deref().or_else(of_work)
    }
}

/// A step that did not end before its run did will not.
fn look(step: &StepRecord, run: RunStatus) -> Look {
    let is_held = step.work.as_ref().is_none_or(|work| work.running > 0);
    match step.status {
        StepStatus::Completed => Look::Completed,
        StepStatus::Failed => Look::Failed,
        StepStatus::Skipped => Look::Skipped,
        StepStatus::Created | StepStatus::Started if run.has_ended() => Look::Stopped,
        StepStatus::Created => Look::Waiting,
        StepStatus::Started if is_held => Look::Running,
        StepStatus::Started => Look::Queued,
    }
}
