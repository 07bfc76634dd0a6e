//! All that is kept.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use pgflow_machine::{Catalog, RunId, TaskKey, TaskRef, TaskRow, Timestamp};

use super::clock::Clock;
use super::jobs::JobData;
use super::pipelines::PipelineData;
use super::queue::Queue;
use super::run::Run;
use super::schedules::ScheduleData;
use super::streams::StreamData;
use super::waits::WaitData;

#[derive(Debug)]
pub(super) struct Data {
    pub(super) clock: Clock,
    pub(super) catalog: Arc<Catalog>,
    /// Versions so far, which is the id of the newest.
    pub(super) last_version: i64,
    /// Checksums of migrations, by package and name.
    pub(super) applied: HashMap<(String, String), String>,
    /// By id of the version.
    pub(super) queues: HashMap<i64, Queue>,
    pub(super) runs: HashMap<RunId, Run>,
    /// Runs by when they began.
    pub(super) by_start: BTreeSet<(Timestamp, RunId)>,
    /// Runs that go on.
    pub(super) open: BTreeSet<RunId>,
    /// Held tasks by when they count as lost.
    pub(super) leases: BTreeSet<(Timestamp, TaskRef)>,
    pub(super) jobs: JobData,
    pub(super) pipelines: PipelineData,
    pub(super) streams: StreamData,
    pub(super) waits: WaitData,
    pub(super) schedules: ScheduleData,
    last_ticket: u64,
}

impl Data {
    pub(super) fn new(clock: Clock) -> Self {
        Self {
            clock,
            catalog: Arc::default(),
            last_version: 0,
            applied: HashMap::new(),
            queues: HashMap::new(),
            runs: HashMap::new(),
            by_start: BTreeSet::new(),
            open: BTreeSet::new(),
            leases: BTreeSet::new(),
            jobs: JobData::default(),
            pipelines: PipelineData::default(),
            streams: StreamData::default(),
            waits: WaitData::default(),
            schedules: ScheduleData::default(),
            last_ticket: 0,
        }
    }

    /// Writes a task's row, and puts it where claims and sweeps look for it.
    pub(super) fn set_task(&mut self, at: TaskRef, row: TaskRow) {
        let Some(run) = self.runs.get_mut(&at.run) else { return };
        let queue = self.queues.get_mut(&run.version.id);
        let Some(task) = run.task_mut(at.step, at.index) else { return };
        if let Some(lost_after) = task.row.lost_after {
            self.leases.remove(&(lost_after, at));
        }
        if let Some(lost_after) = row.lost_after {
            self.leases.insert((lost_after, at));
        }
        if let Some(queue) = queue {
            if let Some(ready_at) = task.row.ready_at {
                queue.remove(at.step, (ready_at, task.ticket));
            }
            if let Some(ready_at) = row.ready_at {
                self.last_ticket += 1;
                task.ticket = self.last_ticket;
                queue.push((ready_at, task.ticket), at);
            }
        }
        task.row = row;
    }

    /// The key of a task that is there.
    pub(super) fn key(&self, at: TaskRef) -> Option<TaskKey> {
        let step = self.runs.get(&at.run)?.plan().step(at.step).slug.to_string();
        Some(TaskKey { run: at.run, step, index: at.index })
    }

    /// When something becomes due next.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        let a_moment_later = std::time::Duration::from_micros(1);
        let lost = self.leases.first().map(|(lost_after, _)| *lost_after + a_moment_later);
        let queued = self.queues.values().filter_map(Queue::first);
        queued.chain(lost).chain(self.waits.next(self.clock.now())).min()
    }
}
