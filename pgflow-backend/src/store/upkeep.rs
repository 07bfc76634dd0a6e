//! What people who look after a store need: all but its statements.
//!
//! A store has five modules, `checkup`, `flows`, `runs`, `statistics` and `workers`, with a function for each method of
//! [`Upkeep`](crate::backend::Upkeep); `upkeep!` makes them one.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::{Catalog, StepStatus, TaskStatus, Timestamp, Version, WorkerId};
use uuid::Uuid;

use crate::backend::{
    Activity, Ended, FlowRecord, QueueDepth, RunQuery, RunSummary, Sample, StepStatistics,
    TaskRecord, WorkerRecord,
};

/// Workers that nothing was heard of for so long are forgotten when another signs on.
pub const FORGOTTEN: Duration = Duration::from_hours(24 * 30);

/// Implements `Upkeep` with the functions of the modules beside it.
#[macro_export]
#[doc(hidden)]
macro_rules! __upkeep {
    ($store:ty, $in_time:path) => {
        $crate::__upkeep! { $store, $in_time =>
            checkup::schema() -> $crate::backend::SchemaState;
            checkup::now() -> pgflow_machine::Timestamp;
            checkup::checkup() -> $crate::backend::Checkup;
            flows::flows() -> Vec<$crate::backend::FlowRecord>;
            flows::definition(version: &'a str) -> Option<$crate::backend::Definition>;
            flows::set_input_schema(version: &'a str, schema: &'a serde_json::Value) -> ();
            flows::queues() -> Vec<$crate::backend::QueueDepth>;
            runs::between(first: pgflow_machine::RunId, last: pgflow_machine::RunId, max: u32)
                -> Vec<$crate::backend::RunSummary>;
            runs::step_times(run: pgflow_machine::RunId) -> Vec<$crate::backend::StepTimes>;
            runs::tasks(
                run: pgflow_machine::RunId,
                step: &'a str,
                query: &'a $crate::backend::TaskQuery
            ) -> Vec<$crate::backend::TaskRecord>;
            runs::prunable(older_than: std::time::Duration, max: u64) -> u64;
            workers::sign_on(worker: &'a $crate::backend::WorkerCard) -> ();
            workers::workers(query: &'a $crate::backend::WorkerQuery)
                -> Vec<$crate::backend::WorkerRecord>;
            statistics::step_statistics(version: &'a str, window: std::time::Duration)
                -> Vec<$crate::backend::StepStatistics>;
            statistics::activity(flows: &'a [String], window: std::time::Duration)
                -> $crate::backend::Activity;
        }
    };
    ($store:ty, $in_time:path => $($room:ident :: $method:ident($($name:ident: $type:ty),*) -> $reply:ty;)+) => {
        #[allow(
            clippy::elidable_lifetime_names,
            clippy::needless_lifetimes,
            clippy::needless_question_mark,
            reason = "one spelling for all methods"
        )]
        impl $crate::backend::Upkeep for $store {
            // It reads everything, for as long as that takes.
            fn check(&self) -> $crate::backend::Reply<'_, Vec<String>> {
                Box::pin(async move { Ok(checkup::check(self).await?) })
            }

            $(fn $method<'a>(&'a self, $($name: $type),*) -> $crate::backend::Reply<'a, $reply> {
                Box::pin(async move { Ok($in_time(self, $room::$method(self, $($name),*)).await?) })
            })+
        }
    };
}

#[doc(inline)]
pub use crate::__upkeep as upkeep;

/// A call that takes as long as it takes.
pub async fn untimed<S, F: Future>(_store: &S, call: F) -> F::Output {
    call.await
}

/// A time in microseconds, as stores have them.
pub fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

/// A moment so long ago.
pub fn ago(now: Timestamp, time: Duration) -> Timestamp {
    Timestamp::from_micros(now.micros().saturating_sub(micros(time)))
}

/// A version of a flow, for people.
pub fn flow_record(catalog: &Catalog, version: &Version, created_at: Option<i64>) -> FlowRecord {
    FlowRecord {
        flow: version.flow.clone(),
        version: version.number,
        slug: version.slug().to_string(),
        is_current: catalog.newest(&version.flow).is_some_and(|newest| newest.id == version.id),
        steps: u32::try_from(version.plan.steps().len()).unwrap_or(u32::MAX),
        created_at: created_at.map(Timestamp::from_micros),
    }
}

/// When a step began and ended. One that a retry opened again keeps its old moments for a while.
pub fn times_of(
    status: StepStatus,
    started_at: Option<i64>,
    ended_at: Option<i64>,
) -> (Option<Timestamp>, Option<Timestamp>) {
    let has_begun = status != StepStatus::Created;
    let has_ended = has_begun && status != StepStatus::Started;
    (
        started_at.filter(|_| has_begun).map(Timestamp::from_micros),
        ended_at.filter(|_| has_ended).map(Timestamp::from_micros),
    )
}

/// A task as it is stored, and when its step began.
#[derive(Debug)]
pub struct StoredTask {
    /// Which task of its step.
    pub index: u32,
    /// Whether it waits, is held or done.
    pub status: TaskStatus,
    /// How often it was claimed.
    pub attempts: u32,
    /// How often its worker was lost.
    pub losses: u32,
    /// The last that claimed it.
    pub worker: Option<Uuid>,
    /// What its last failure said.
    pub error: Option<String>,
    /// What it waits for.
    pub yielded: Option<String>,
    /// When it can be claimed.
    pub ready_at: Option<i64>,
    /// When it was claimed.
    pub started_at: Option<i64>,
    /// When its lease ends.
    pub lost_at: Option<i64>,
    /// When its step began.
    pub step_began: Option<i64>,
}

impl From<StoredTask> for TaskRecord {
    fn from(task: StoredTask) -> Self {
        let is_held = task.status == TaskStatus::Started;
        // Tasks of wide maps stand far back in time.
        let ready_at = task.ready_at.max(task.ready_at.and(task.step_began));
        Self {
            index: task.index,
            status: task.status,
            attempts: task.attempts,
            losses: task.losses,
            worker: task.worker.filter(|_| is_held).map(WorkerId),
            error: task.error,
            yielded: task.yielded,
            ready_at: ready_at.map(Timestamp::from_micros),
            started_at: task.started_at.map(Timestamp::from_micros),
            ended_at: None,
            lost_at: task.lost_at.map(Timestamp::from_micros),
        }
    }
}

/// What a queue of a step holds: what is ready, what is delayed, since when the oldest is ready, and since when the
/// oldest is that stands far back in time.
pub type Depth = (i64, i64, i64, Option<i64>, Option<i64>);

/// What each queue of a step has lent to each worker.
pub type HeldByWorker = (i64, Uuid, i64);

/// Queues of versions from those of their steps, of which each version has `span`.
pub fn queues(
    versions: &[&Arc<Version>],
    span: i64,
    now: Timestamp,
    depths: &[Depth],
    held: &[HeldByWorker],
) -> Vec<QueueDepth> {
    let mut found: HashMap<i64, QueueDepth> = HashMap::new();
    for &(queue, ready, delayed, oldest, bulk) in depths {
        let depth = found.entry(queue / span).or_default();
        depth.ready += ready.unsigned_abs();
        depth.delayed += delayed.unsigned_abs();
        let oldest = oldest.into_iter().chain(bulk).min().map(Timestamp::from_micros);
        depth.oldest_ready = depth.oldest_ready.max(oldest.map(|it| it.saturating_until(now)));
    }
    for (queue, _, tasks) in held {
        found.entry(queue / span).or_default().running += tasks.unsigned_abs();
    }
    let of = |version: &&Arc<Version>| QueueDepth {
        slug: version.slug().to_string(),
        ..found.remove(&version.id).unwrap_or_default()
    };
    let mut queues: Vec<_> = versions.iter().map(of).collect();
    queues.sort_by(|a, b| a.slug.cmp(&b.slug));
    queues
}

/// How many tasks each worker has.
pub fn running(held: &[HeldByWorker]) -> HashMap<Uuid, u32> {
    let mut running: HashMap<Uuid, u32> = HashMap::new();
    for (_, worker, tasks) in held {
        *running.entry(*worker).or_default() += u32::try_from(*tasks).unwrap_or(u32::MAX);
    }
    running
}

/// A worker as it is stored: id, host, process, queues as JSON, slots, when it began, was heard of, and ended.
pub type StoredWorker = (Uuid, Option<String>, u32, String, u32, i64, i64, Option<i64>);

/// A worker, for people.
#[expect(clippy::implicit_hasher, reason = "`running` makes the map")]
pub fn worker(
    (id, host, pid, queues, slots, started_at, seen_at, stopped_at): StoredWorker,
    running: &HashMap<Uuid, u32>,
) -> serde_json::Result<WorkerRecord> {
    Ok(WorkerRecord {
        id: WorkerId(id),
        host,
        pid: Some(pid),
        queues: serde_json::from_str(&queues)?,
        slots: Some(slots),
        running: running.get(&id).copied().unwrap_or(0),
        started_at: Timestamp::from_micros(started_at),
        seen_at: Timestamp::from_micros(seen_at),
        stopped_at: stopped_at.map(Timestamp::from_micros),
    })
}

/// The newest runs of those of all statuses, for statistics of steps.
pub fn newest<T>(mut runs: Vec<(T, i64)>) -> Vec<T> {
    runs.sort_by_key(|(_, started_at)| Reverse(*started_at));
    runs.truncate(Sample::RUNS_WITH_STEPS as usize);
    runs.into_iter().map(|(run, _)| run).collect()
}

/// A step of a run: which of the version, its status, when it began and ended.
pub type StoredStep = (usize, StepStatus, Option<i64>, Option<i64>);

/// How the steps of a version did.
pub fn statistics(version: &Version, rows: Vec<StoredStep>) -> Vec<StepStatistics> {
    let mut ends: Vec<Ended> = version.plan.steps().iter().map(|_| Ended::default()).collect();
    for (step, status, started_at, ended_at) in rows {
        let (started_at, ended_at) = times_of(status, started_at, ended_at);
        if let Some(ended) = ends.get_mut(step) {
            ended.add(status, started_at, ended_at);
        }
    }
    let steps = version.plan.steps().iter();
    steps.zip(ends).map(|(step, ended)| ended.statistics(&step.slug)).collect()
}

/// The runs that [`activity`] counts.
pub fn sampled(flows: &[String], since: Timestamp) -> RunQuery {
    let flows = flows.to_vec();
    RunQuery { flows, since: Some(since), max: Sample::RUNS, ..RunQuery::default() }
}

/// What became of runs, minute by minute.
pub fn activity(runs: &[RunSummary], since: Timestamp, now: Timestamp) -> Activity {
    let is_cut = runs.len() == Sample::RUNS as usize;
    let oldest = runs.last().filter(|_| is_cut).map(|run| run.started_at);
    let mut sample = Sample::default();
    for run in runs {
        sample.add(run.status, run.started_at, run.ended_at);
    }
    sample.activity(oldest.unwrap_or(since), now)
}
