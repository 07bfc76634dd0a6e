//! What people who look after it need.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use pgflow_machine::{RunId, StepStatus, TaskStatus, Timestamp, Version, WorkerId};
use serde_json::Value;
use uuid::Uuid;

use super::Memory;
use super::data::Data;
use super::run::{Run, StepData, Task};
use crate::backend::{
    Activity, BackendError, Checkup, Definition, FlowRecord, QueueDepth, Reply, RunSummary, Sample,
    SchemaState, StepStatistics, StepTimes, TaskQuery, TaskRecord, Upkeep, WorkerCard, WorkerQuery,
    WorkerRecord,
};
use crate::store::upkeep::{StoredTask, activity, ago, flow_record, statistics, times_of};

/// What is known besides runs.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// By slug of the version.
    schemas: HashMap<String, Value>,
    workers: BTreeMap<Uuid, Signed>,
}

/// A worker that signed on.
#[derive(Debug)]
struct Signed {
    card: WorkerCard,
    at: Timestamp,
    stopped_at: Option<Timestamp>,
}

impl Memory {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.shared.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at what there is.
    fn look<'a, T: Send + 'a>(
        &self,
        look: impl FnOnce(&Data) -> Result<T, BackendError>,
    ) -> Reply<'a, T> {
        let is_closed = self.shared.is_closed.load(Ordering::Acquire);
        let answer = if is_closed { Err(BackendError::Closed) } else { look(&self.shared.data()) };
        Box::pin(std::future::ready(answer))
    }

    /// A worker has ended.
    pub(super) fn note_end(&self, worker: WorkerId) {
        let now = self.now();
        if let Some(signed) = self.kept().workers.get_mut(&worker.0) {
            signed.stopped_at.get_or_insert(now);
        }
    }
}

impl Upkeep for Memory {
    fn schema(&self) -> Reply<'_, SchemaState> {
        self.look(|_| Ok(SchemaState::Current))
    }

    fn now(&self) -> Reply<'_, Timestamp> {
        self.look(|data| Ok(data.clock.now()))
    }

    fn flows(&self) -> Reply<'_, Vec<FlowRecord>> {
        self.look(|data| Ok(data.flows()))
    }

    fn definition<'a>(&'a self, version: &'a str) -> Reply<'a, Option<Definition>> {
        let input_schema = self.kept().schemas.get(version).cloned();
        self.look(|data| {
            let found = data.catalog.by_slug(version);
            Ok(found.map(|found| Definition {
                record: data.flow_record(found),
                shape: found.shape.clone(),
                input_schema,
            }))
        })
    }

    fn set_input_schema<'a>(&'a self, version: &'a str, schema: &'a Value) -> Reply<'a, ()> {
        self.look(|data| {
            if data.catalog.by_slug(version).is_some() {
                self.kept().schemas.insert(version.to_owned(), schema.clone());
            }
            Ok(())
        })
    }

    fn queues(&self) -> Reply<'_, Vec<QueueDepth>> {
        self.look(|data| Ok(data.depths()))
    }

    fn between(&self, first: RunId, last: RunId, max: u32) -> Reply<'_, Vec<RunSummary>> {
        self.look(|data| Ok(data.between(first, last, max)))
    }

    fn step_times(&self, run: RunId) -> Reply<'_, Vec<StepTimes>> {
        self.look(|data| Ok(data.runs.get(&run).map(step_times).unwrap_or_default()))
    }

    fn tasks<'a>(
        &'a self,
        run: RunId,
        step: &'a str,
        query: &'a TaskQuery,
    ) -> Reply<'a, Vec<TaskRecord>> {
        self.look(|data| Ok(data.tasks(run, step, query)))
    }

    fn sign_on<'a>(&'a self, worker: &'a WorkerCard) -> Reply<'a, ()> {
        self.look(|data| {
            let at = data.clock.now();
            let signed = Signed { card: worker.clone(), at, stopped_at: None };
            self.kept().workers.insert(worker.id.0, signed);
            Ok(())
        })
    }

    fn workers<'a>(&'a self, query: &'a WorkerQuery) -> Reply<'a, Vec<WorkerRecord>> {
        self.look(|data| {
            let (now, running) = (data.clock.now(), data.running());
            let kept = self.kept();
            let newest_first = kept.workers.values().rev();
            let found = newest_first.map(|signed| record(signed, now, &running));
            let is_asked = |worker: &WorkerRecord| {
                (query.with_gone || worker.stopped_at.is_none())
                    && query.after.is_none_or(|after| worker.id.0 < after.0)
            };
            Ok(found.filter(is_asked).take(query.max as usize).collect())
        })
    }

    fn step_statistics<'a>(
        &'a self,
        version: &'a str,
        window: Duration,
    ) -> Reply<'a, Vec<StepStatistics>> {
        self.look(|data| Ok(data.step_statistics(version, window)))
    }

    fn activity<'a>(&'a self, flows: &'a [String], window: Duration) -> Reply<'a, Activity> {
        self.look(|data| Ok(data.activity(flows, window)))
    }

    fn prunable(&self, older_than: Duration, max: u64) -> Reply<'_, u64> {
        self.look(|data| {
            let ended_by = ago(data.clock.now(), older_than);
            Ok((data.prunable_runs(ended_by).count() as u64).min(max))
        })
    }

    fn check(&self) -> Reply<'_, Vec<String>> {
        // What of runs is stored twice elsewhere is computed here.
        self.look(|data| {
            let is_open =
                |run| data.runs.get(&run).is_some_and(|run| !run.state.status.has_ended());
            let mut found = data.jobs.problems(is_open);
            found.extend(data.unheld());
            Ok(found)
        })
    }

    fn checkup(&self) -> Reply<'_, Checkup> {
        self.look(|data| {
            let mut checkup = Checkup::of("memory");
            checkup.fact("runs", data.runs.len());
            Ok(checkup)
        })
    }
}

/// It lives in this process, so who did not sign off is there.
fn record(signed: &Signed, now: Timestamp, running: &HashMap<Uuid, u32>) -> WorkerRecord {
    let WorkerCard { id, host, pid, queues, slots } = signed.card.clone();
    WorkerRecord {
        id,
        host,
        pid: Some(pid),
        queues,
        slots: Some(slots),
        running: running.get(&id.0).copied().unwrap_or(0),
        started_at: signed.at,
        seen_at: signed.stopped_at.unwrap_or(now),
        stopped_at: signed.stopped_at,
    }
}

impl Data {
    fn flows(&self) -> Vec<FlowRecord> {
        let all: [&str; 0] = [];
        self.catalog.of(&all).into_iter().map(|version| self.flow_record(version)).collect()
    }

    fn flow_record(&self, version: &Version) -> FlowRecord {
        flow_record(&self.catalog, version, None)
    }

    /// Tasks that are waited for, with their runs and steps.
    fn open_tasks(&self) -> impl Iterator<Item = (&Run, &StepData, &Task)> {
        let open = self.open.iter().filter_map(|id| self.runs.get(id));
        open.flat_map(|run| {
            let steps = run.state.steps.iter().zip(&run.steps);
            let started = steps.filter(|(step, _)| step.status == StepStatus::Started);
            started.flat_map(move |(_, step)| step.tasks.iter().map(move |task| (run, step, task)))
        })
    }

    fn depths(&self) -> Vec<QueueDepth> {
        let now = self.clock.now();
        let all: [&str; 0] = [];
        let empty = |version: &Arc<Version>| {
            let slug = version.slug().to_string();
            (slug.clone(), QueueDepth { slug, ..QueueDepth::default() })
        };
        let mut depths: BTreeMap<_, _> = self.catalog.of(&all).into_iter().map(empty).collect();
        for (run, step, task) in self.open_tasks() {
            let Some(depth) = depths.get_mut(&**run.plan().slug()) else { continue };
            match (task.row.status, task.row.ready_at) {
                (TaskStatus::Started, _) => depth.running += 1,
                (TaskStatus::Queued, Some(ready_at)) if ready_at > now => depth.delayed += 1,
                (TaskStatus::Queued, ready_at) => {
                    depth.ready += 1;
                    let age = ready_at.max(step.started_at).map(|at| at.saturating_until(now));
                    depth.oldest_ready = depth.oldest_ready.max(age);
                }
                (TaskStatus::Waiting | TaskStatus::Completed | TaskStatus::Failed, _) => {}
            }
        }
        depths.into_values().collect()
    }

    /// How many tasks each worker has.
    fn running(&self) -> HashMap<Uuid, u32> {
        let mut running = HashMap::new();
        for (worker, _) in self.open_tasks().filter_map(|(.., task)| task.held) {
            *running.entry(worker.0).or_default() += 1;
        }
        running
    }

    fn between(&self, first: RunId, last: RunId, max: u32) -> Vec<RunSummary> {
        let mut found: Vec<_> =
            self.runs.iter().filter(|(id, _)| (first..=last).contains(id)).collect();
        found.sort_by_key(|(id, _)| **id);
        let found = found.into_iter().take(max as usize);
        found.map(|(id, run)| super::inspect::summary(*id, run)).collect()
    }

    fn tasks(&self, run: RunId, step: &str, query: &TaskQuery) -> Vec<TaskRecord> {
        let Some(run) = self.runs.get(&run) else { return Vec::new() };
        let Some(step) = run.plan().index(step) else { return Vec::new() };
        let is_asked = |(index, task): &(u32, &Task)| {
            query.after.is_none_or(|after| *index > after)
                && (query.statuses.is_empty() || query.statuses.contains(&task.row.status))
        };
        let data = &run.steps[step];
        let tasks = (0..).zip(&data.tasks).filter(is_asked);
        let page = tasks.take(query.max.min(TaskQuery::MOST) as usize);
        page.map(|(index, task)| task_record(index, task, data.started_at)).collect()
    }

    /// The newest runs since a moment, up to so many.
    fn newest(
        &self,
        since: Timestamp,
        max: u32,
        is_asked: impl Fn(&Run) -> bool,
    ) -> impl Iterator<Item = (RunId, &Run)> {
        let newest_first = self.by_start.range((since, RunId(Uuid::nil()))..).rev();
        let runs = newest_first.filter_map(|(_, id)| Some((*id, self.runs.get(id)?)));
        runs.filter(move |(_, run)| is_asked(run)).take(max as usize)
    }

    fn activity(&self, flows: &[String], window: Duration) -> Activity {
        let now = self.clock.now();
        let since = ago(now, window);
        let is_asked = |run: &Run| flows.is_empty() || flows.contains(&run.version.flow);
        let runs = self.newest(since, Sample::RUNS, is_asked);
        let runs: Vec<_> = runs.map(|(id, run)| super::inspect::summary(id, run)).collect();
        activity(&runs, since, now)
    }

    fn step_statistics(&self, version: &str, window: Duration) -> Vec<StepStatistics> {
        let Some(version) = self.catalog.by_slug(version) else { return Vec::new() };
        let is_of = |run: &Run| run.version.id == version.id;
        let since = ago(self.clock.now(), window);
        let mut rows = Vec::new();
        for (_, run) in self.newest(since, Sample::RUNS_WITH_STEPS, is_of) {
            let steps = run.state.steps.iter().zip(step_times(run)).enumerate();
            rows.extend(steps.map(|(step, (state, times))| {
                let [began, ended] =
                    [times.started_at, times.ended_at].map(|at| at.map(Timestamp::micros));
                (step, state.status, began, ended)
            }));
        }
        statistics(version, rows)
    }
}

/// When its steps began and ended, from its log.
pub(super) fn step_times(run: &Run) -> Vec<StepTimes> {
    use pgflow_machine::Entry::{StepCompleted, StepFailed, StepSkipped, StepStarted};

    let plan = run.plan();
    let time =
        |slug: &Arc<str>| StepTimes { slug: slug.to_string(), started_at: None, ended_at: None };
    let mut times: Vec<_> = plan.steps().iter().map(|step| time(&step.slug)).collect();
    for (at, entry) in &run.log {
        match entry {
            StepStarted { step, .. } => {
                times[*step].started_at = Some(*at);
                times[*step].ended_at = None;
            }
            StepCompleted { step, .. } | StepFailed { step, .. } | StepSkipped { step, .. } => {
                times[*step].ended_at = Some(*at);
            }
            _ => {}
        }
    }
    for (times, state) in times.iter_mut().zip(&run.state.steps) {
        let [began, ended] = [times.started_at, times.ended_at].map(|at| at.map(Timestamp::micros));
        (times.started_at, times.ended_at) = times_of(state.status, began, ended);
    }
    times
}

fn task_record(index: u32, task: &Task, step_began: Option<Timestamp>) -> TaskRecord {
    let row = task.row;
    let stored = StoredTask {
        index,
        status: row.status,
        attempts: row.counted(),
        losses: row.losses,
        worker: task.held.map(|(worker, _)| worker.0),
        error: task.error.clone(),
        yielded: task.yielded().cloned(),
        ready_at: row.ready_at.map(Timestamp::micros),
        started_at: task.held.map(|(_, since)| since.micros()),
        lost_at: row.lost_after.map(Timestamp::micros),
        step_began: step_began.map(Timestamp::micros),
    };
    stored.into()
}
