//! Taking work.

use std::sync::Arc;

use pgflow_machine::{
    BULK_FROM, Candidate, Lane, Ready, TaskKey, TaskLease, TaskRef, TaskRow, TaskStatus, Timestamp,
    Version, WorkerId, bulk_until, to_bulk,
};

use super::data::Data;
use super::run::Task;
use crate::store::{Take, Taken};

const BEGINNING: Timestamp = Timestamp::from_micros(i64::MIN);

impl Data {
    pub(super) fn ready(
        &self,
        now: Timestamp,
        lanes: &[Lane],
        max: u32,
    ) -> Vec<Ready<Candidate<TaskRef>>> {
        let edge = bulk_until(now);
        let mut ready = Vec::new();
        for (number, lane) in lanes.iter().enumerate() {
            let Some(queue) = self.queues.get(&lane.version.id) else { continue };
            for range in [(BEGINNING, edge), (edge, now)] {
                let most = usize::try_from(max.min(lane.max)).unwrap_or(usize::MAX);
                let waiting = queue.between(lane.step, range).take(most);
                ready.extend(waiting.map(|(place, task)| (place, number, task)));
            }
        }
        // Of the same moment, in the order in which they were queued.
        ready.sort_unstable_by_key(|(place, ..)| *place);
        let candidate = |((ready_at, _), lane, task): ((Timestamp, u64), usize, TaskRef)| {
            let run = self.runs.get(&task.run);
            let bytes = run.map_or(0, |run| run.input_bytes(task.step, task.index));
            let index = task.index;
            Ready { task: Candidate { task, bytes, lane, index }, queue: lane, ready_at }
        };
        ready.into_iter().map(candidate).collect()
    }

    pub(super) fn make_way(&mut self, now: Timestamp, lanes: &[&Lane], max: u32) {
        let (edge, (back, ahead)) = (bulk_until(now), to_bulk());
        for lane in lanes {
            let Some(queue) = self.queues.get(&lane.version.id) else { continue };
            let turn = queue.between(lane.step, (edge, now)).take(max as usize);
            let wide: Vec<_> = turn.filter(|(_, at)| at.index >= BULK_FROM).collect();
            for ((ready_at, _), at) in wide {
                let place = ready_at.micros() + back + i64::from(at.index) * ahead;
                if let Some(row) = self.task(at).map(|task| task.row) {
                    let ready_at = Some(Timestamp::from_micros(place));
                    self.set_task(at, TaskRow { ready_at, ..row });
                }
            }
        }
    }

    pub(super) fn next_ready(&self, lanes: &[Lane], after: Option<Timestamp>) -> Option<Timestamp> {
        let next = |lane: &Lane| {
            self.queues.get(&lane.version.id)?.next_after(lane.step, after.unwrap_or(BEGINNING))
        };
        lanes.iter().filter_map(next).min()
    }

    /// Takes a task; `holder` is who has it from now on, and since when.
    pub(super) fn take(
        &mut self,
        holder: (WorkerId, Timestamp),
        take: Take<TaskRef>,
    ) -> Option<Taken> {
        let at = take.task;
        let before = self.task(at)?.row;
        let row = TaskRow {
            status: TaskStatus::Started,
            attempts: before.attempts + 1,
            ready_at: None,
            lost_after: Some(take.lost_after),
            ..before
        };
        self.set_task(at, row);
        let run = self.runs.get_mut(&at.run)?;
        run.task_mut(at.step, at.index)?.held = Some(holder);
        let element = run.element(at.step, at.index).cloned();
        Some(Taken { at, version: run.version.clone(), attempt: row.attempts, element })
    }

    pub(super) fn lost(&self, now: Timestamp, max: u32) -> Vec<TaskKey> {
        let lost = self.leases.iter().take_while(|(lost_after, _)| *lost_after < now);
        lost.take(max as usize).filter_map(|(_, at)| self.key(*at)).collect()
    }

    pub(super) fn held(&self, worker: WorkerId, queues: &[Arc<Version>]) -> Vec<TaskLease> {
        let is_asked = |at: &TaskRef| {
            let run = self.runs.get(&at.run);
            run.is_some_and(|run| queues.iter().any(|queue| queue.id == run.version.id))
        };
        let lease = |(_, at): &(Timestamp, TaskRef)| {
            let is_its = |task: &&Task| task.held.is_some_and(|(holder, _)| holder == worker);
            let task = self.task(*at).filter(|task| is_its(task) && is_asked(at))?;
            Some(TaskLease { task: self.key(*at)?, attempt: task.row.attempts })
        };
        self.leases.iter().filter_map(lease).collect()
    }

    pub(super) fn hasten(&mut self, now: Timestamp, queues: &[Arc<Version>]) -> u64 {
        let later = queues.iter().filter_map(|version| {
            let queue = self.queues.get(&version.id)?;
            let end = Timestamp::from_micros(i64::MAX);
            let steps = 0..version.plan.steps().len();
            Some(steps.flat_map(move |step| queue.between(step, (now, end))))
        });
        let is_meant = |at: &TaskRef| self.task(*at).is_some_and(|task| task.yielded().is_some());
        let found: Vec<_> = later.flatten().map(|(_, at)| at).filter(is_meant).collect();
        for at in &found {
            if let Some(row) = self.task(*at).map(|task| task.row) {
                self.set_task(*at, TaskRow { ready_at: Some(now), ..row });
            }
        }
        found.len() as u64
    }
}
