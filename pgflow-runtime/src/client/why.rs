//! Why a run does not move.

mod reason;
mod words;

use std::time::Duration;

use pgflow_machine::permit::PermitKey;
use pgflow_machine::{RunId, RunStatus, StepStatus, TaskStatus, Timestamp};

pub use reason::{Reason, Why};
pub use words::Moments;
pub(super) use words::{HIDDEN, alive, many, one_of, taken, times};

use super::ClientError;
use crate::backend::{
    Definition, Parts, RunRecord, StepRecord, TaskQuery, TaskRecord, WaitRecord, WaitingFor,
    WorkerRecord,
};
use crate::db::Db;

/// Tasks of a step that are looked at; the first of them speak for the others.
const TASKS: u32 = 200;

/// Children of a step that are looked at until one is found that goes on.
const CHILDREN: usize = 5;

/// Children of children that are looked at.
const GENERATIONS: u32 = 5;

/// What a start and its tasks may lie apart.
const SLACK: Duration = Duration::from_secs(1);

impl Db {
    /// Why a run does not move: what each of its open steps waits for, or how it ended.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// # let db = pgflow::Db::connect("memory:").await?;
    /// # db.register(count::Flow).await?;
    /// let run = db.start(count::Flow, &7).await?;
    /// let why = db.why(run.id()).await?;
    /// assert!(matches!(why.reasons[0], pgflow::client::Reason::NoWorker { .. }));
    /// assert!(why.to_string().contains("no worker serves `count`"), "{why}");
    /// # Ok(()) })
    /// # }
    /// ```
    pub async fn why(&self, run: RunId) -> Result<Why, ClientError> {
        self.why_within(run, GENERATIONS).await
    }

    /// Follows so many generations of children.
    async fn why_within(&self, run: RunId, generations: u32) -> Result<Why, ClientError> {
        let record = self.record(run, Parts::Steps).await?;
        let now = self.now().await?;
        if record.status != RunStatus::Started {
            let reasons = vec![ended(&record)];
            return Ok(Why { run, flow: record.flow, status: record.status, now, reasons });
        }
        let workers = self.seen_workers().await?;
        let definition = self.definition(&record.flow).await?;
        let (workers, shape) = (workers.as_deref(), definition.as_ref());
        let look = Look { record: &record, definition: shape, workers, now };
        let mut reasons = Vec::new();
        for step in record.steps.iter().filter(|step| step.status == StepStatus::Started) {
            let tasks = self.open_tasks(run, &step.slug).await?;
            look.at_step(step, &tasks, &mut reasons);
            for reason in reasons.iter_mut().filter(|it| it.step() == Some(&step.slug)) {
                self.at_permits(&record.flow, now, reason).await?;
            }
        }
        let waits = waits(&self.open_waits(&record).await?);
        let children = self.why_children(&waits, generations).await?;
        reasons.extend(waits);
        reasons.extend(children);
        reasons.extend(waiting(&record, definition.as_ref()));
        Ok(Why { run, flow: record.flow.clone(), status: record.status, now, reasons })
    }

    /// Why runs that steps wait for do not move: the first of each step speaks for the others.
    async fn why_children(
        &self,
        waits: &[Reason],
        generations: u32,
    ) -> Result<Vec<Reason>, ClientError> {
        let mut reasons = Vec::new();
        for wait in waits.iter().filter(|_| generations > 0) {
            let Reason::Waiting { step, on: WaitingFor::Runs(children), .. } = wait else {
                continue;
            };
            for child in children.iter().take(CHILDREN) {
                // It holds itself.
                let why = match Box::pin(self.why_within(*child, generations - 1)).await {
                    Err(ClientError::UnknownRun { .. }) => continue,
                    why => why?,
                };
                if why.status == RunStatus::Started {
                    reasons.extend(why.of_child(step));
                    break;
                }
            }
        }
        Ok(reasons)
    }

    /// Tasks that a worker would take may have to wait for what their attempts need besides.
    async fn at_permits(
        &self,
        flow: &str,
        now: Timestamp,
        reason: &mut Reason,
    ) -> Result<(), ClientError> {
        let (Reason::Ready { step, tasks, since, .. }
        | Reason::HiddenWorkers { step, tasks, since }) = &*reason
        else {
            return Ok(());
        };
        let (step, tasks, since) = (step.clone(), *tasks, *since);
        let stage = self.stage_of(&PermitKey::step(flow, &step).name).await?;
        if let Some(on) = self.why_no_permit(&stage, now).await? {
            *reason = Reason::Permit { step, tasks, on, since };
        }
        Ok(())
    }

    /// The first tasks that a worker has or that wait for one. In a wide map those that a worker has may stand far behind others.
    async fn open_tasks(&self, run: RunId, step: &str) -> Result<Vec<TaskRecord>, ClientError> {
        let open = vec![TaskStatus::Started, TaskStatus::Queued];
        let query = TaskQuery { statuses: open, after: None, max: 2 * TASKS };
        let mut tasks = self.tasks(run, step, &query).await?;
        let is_whole = tasks.len() < 2 * TASKS as usize;
        if !is_whole && tasks.iter().all(|task| task.status == TaskStatus::Queued) {
            let (statuses, after) =
                (vec![TaskStatus::Started], tasks.last().map(|task| task.index));
            let query = TaskQuery { statuses, after, max: TASKS };
            tasks.extend(self.tasks(run, step, &query).await?);
        }
        Ok(tasks)
    }
}

fn ended(record: &RunRecord) -> Reason {
    let failed = record.steps.iter().find(|step| step.status == StepStatus::Failed);
    let error = failed.map(|step| {
        format!(
            "step `{}`: {}",
            step.slug,
            step.error.as_deref().unwrap_or("no error was recorded")
        )
    });
    Reason::Ended {
        status: record.status,
        at: record.ended_at.unwrap_or_default(),
        why: record.cancel_reason.clone().or(error),
    }
}

/// Steps that wait for others.
fn waiting(record: &RunRecord, definition: Option<&Definition>) -> Vec<Reason> {
    let is_open = |slug: &String| {
        let step = record.steps.iter().find(|step| step.slug == *slug);
        step.is_some_and(|step| matches!(step.status, StepStatus::Created | StepStatus::Started))
    };
    let created = record.steps.iter().filter(|step| step.status == StepStatus::Created);
    let reason = |step: &StepRecord| {
        let shape = definition.and_then(|definition| definition.shape.step(&step.slug));
        let deps = shape.map(|shape| shape.depends_on.clone()).unwrap_or_default();
        let on = deps.into_iter().filter(is_open).collect();
        Reason::Dependencies { step: step.slug.clone(), on }
    };
    created.map(reason).collect()
}

/// Steps whose tasks wait for something else; the oldest of each speaks for the others.
fn waits(all: &[WaitRecord]) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = Vec::new();
    for wait in all {
        let same = reasons.iter_mut().find(|reason| reason.step() == Some(&wait.task.step));
        match same {
            Some(Reason::Waiting { tasks, .. }) => *tasks += 1,
            _ => reasons.push(Reason::Waiting {
                step: wait.task.step.clone(),
                tasks: 1,
                on: wait.on.clone(),
                since: wait.since,
                until: wait.until,
            }),
        }
    }
    reasons
}

/// What is known of who could work.
struct Look<'a> {
    record: &'a RunRecord,
    definition: Option<&'a Definition>,
    /// Nothing if this login may not see them.
    workers: Option<&'a [WorkerRecord]>,
    now: Timestamp,
}

impl Look<'_> {
    fn at_step(&self, step: &StepRecord, tasks: &[TaskRecord], reasons: &mut Vec<Reason>) {
        let slug = &step.slug;
        let (held, queued): (Vec<_>, Vec<_>) =
            tasks.iter().partition(|task| task.status == TaskStatus::Started);
        self.at_held(slug, &held, reasons);
        let (ready, later): (Vec<_>, Vec<_>) =
            queued.into_iter().partition(|task| task.ready_at.is_none_or(|at| at <= self.now));
        // The one that comes next speaks for all that wait for their time.
        if let Some(next) = later.iter().min_by_key(|task| task.ready_at) {
            reasons.push(self.later_reason(slug, next, later.len()));
        }
        if let Some(first) = ready.first() {
            reasons.push(self.ready_reason(slug, first, ready.len()));
        }
        if let Some(task) = tasks.iter().max_by_key(|task| task.losses).filter(|it| it.losses > 0) {
            let (step, index, losses) = (slug.clone(), task.index, task.losses);
            reasons.push(Reason::Crashes { step, index, losses });
        }
    }

    fn at_held(&self, slug: &str, held: &[&TaskRecord], reasons: &mut Vec<Reason>) {
        let is_lost = |task: &&&TaskRecord| {
            let Some(workers) = self.workers else {
                return task.lost_at.is_some_and(|at| at <= self.now);
            };
            let worker = workers.iter().find(|worker| Some(worker.id) == task.worker);
            worker.is_none_or(|worker| !worker.is_alive(self.now))
        };
        let (lost, working): (Vec<&TaskRecord>, Vec<_>) =
            held.iter().partition(|task| is_lost(task));
        if let Some(first) = working.first() {
            let since = first.started_at.unwrap_or(self.now);
            let (step, tasks, worker) = (slug.to_owned(), working.len(), first.worker);
            reasons.push(Reason::Running { step, tasks, worker, since });
        }
        if let Some(first) = lost.first() {
            let (step, index, worker) = (slug.to_owned(), first.index, first.worker);
            let until = first.lost_at.unwrap_or(self.now);
            reasons.push(Reason::LostWorker { step, index, worker, until });
        }
    }

    /// Why no worker takes a task that is ready.
    fn ready_reason(&self, slug: &str, first: &TaskRecord, tasks: usize) -> Reason {
        let step = slug.to_owned();
        let since = first.ready_at.unwrap_or(self.now);
        let Some(all) = self.workers else { return Reason::HiddenWorkers { step, tasks, since } };
        let serves = |worker: &&WorkerRecord| {
            worker.is_alive(self.now) && worker.queues.contains(&self.record.flow)
        };
        let serving: Vec<_> = all.iter().filter(serves).collect();
        if serving.is_empty() {
            let alive = all.iter().filter(|worker| worker.is_alive(self.now)).count();
            let version = self.record.flow.clone();
            return Reason::NoWorker { step, tasks, version, alive, since };
        }
        let slots: u32 = serving.iter().filter_map(|worker| worker.slots).sum();
        let running: u32 = serving.iter().map(|worker| worker.running).sum();
        let workers = serving.len();
        if running >= slots && slots > 0 {
            return Reason::Busy { step, tasks, workers, slots, since };
        }
        Reason::Ready { step, tasks, workers, since }
    }

    fn later_reason(&self, slug: &str, next: &TaskRecord, tasks: usize) -> Reason {
        let (step, index) = (slug.to_owned(), next.index);
        let until = next.ready_at.unwrap_or_default();
        match (&next.yielded, &next.error) {
            (Some(why), _) => Reason::HeldBack { step, tasks, until, why: why.clone() },
            (None, Some(error)) => {
                let attempts = next.attempts;
                Reason::Backoff { step, index, tasks, attempts, until, error: error.clone() }
            }
            (None, None) => {
                let is_asked = self.is_asked(slug, until);
                Reason::Delayed { step, tasks, until, is_asked }
            }
        }
    }

    /// Whether a first step begins later than the flow alone would let it.
    fn is_asked(&self, slug: &str, until: Timestamp) -> bool {
        let Some(shape) = self.definition.map(|definition| &definition.shape) else { return false };
        let Some(step) = shape.step(slug).filter(|step| step.depends_on.is_empty()) else {
            return false;
        };
        let delay = step.options.start_delay.or(shape.options.start_delay).unwrap_or(0);
        let delay = Duration::from_secs(delay.into());
        self.record.started_at.saturating_until(until) > delay + SLACK
    }
}
