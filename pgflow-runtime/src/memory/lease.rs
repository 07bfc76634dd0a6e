//! Heartbeats, and tasks whose worker is gone.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::{
    Beat, Lease, MAX_REQUEUES, RunStatus, StepStatus, TaskStatus, Timestamp, lost_after, promise,
    stalled_error,
};

use super::queue::TaskRef;
use super::runs::broken;
use super::store::Store;
use crate::backend::{BackendError, Swept};

impl Store {
    pub(super) fn beat(&mut self, lease: &Lease) -> Beat {
        let Some(run) = self.runs.get(&lease.task.run) else { return Beat::Lost };
        let Some(step) = run.plan().index(&lease.task.step) else { return Beat::Lost };
        let Some(standing) = run.standing(step, lease.task.index) else {
            let has_ended = matches!(run.state.status, RunStatus::Failed | RunStatus::Cancelled);
            return if has_ended { Beat::Cancelled } else { Beat::Lost };
        };
        let beat = standing.beat(lease.attempt);
        if beat == Beat::Extended {
            self.extend(TaskRef { run: lease.task.run, step, index: lease.task.index });
        }
        beat
    }

    fn extend(&mut self, at: TaskRef) {
        let now = self.clock.now();
        let Some(run) = self.runs.get_mut(&at.run) else { return };
        let version = Arc::clone(&run.version);
        let planned = version.plan.step(at.step);
        let held = run.task_mut(at.step, at.index).and_then(|task| task.held.as_mut());
        if let Some(held) = held {
            self.leases.remove(&(held.lost_after, at));
            held.lost_after = lost_after(held.started_at, Some(promise(now, planned)), planned);
            self.leases.insert((held.lost_after, at));
        }
    }

    /// Ends the hold of a worker on a task.
    pub(super) fn let_go(&mut self, at: TaskRef) {
        let task = self.runs.get_mut(&at.run).and_then(|run| run.task_mut(at.step, at.index));
        if let Some(held) = task.and_then(|task| task.held.take()) {
            self.leases.remove(&(held.lost_after, at));
        }
    }

    pub(super) fn sweep(&mut self) -> Result<Swept, BackendError> {
        let mut lost = self.take_lost();
        let slug = |at: &TaskRef| {
            let plan = self.runs.get(&at.run).map(|run| &run.version.plan);
            plan.map(|plan| Arc::clone(&plan.step(at.step).slug))
        };
        lost.sort_by_cached_key(|at| (at.run, slug(at), at.index));
        for &at in &lost {
            self.end_if_stalled(at)?;
        }
        let mut requeued = 0;
        for at in lost {
            requeued += u64::from(self.requeue(at));
        }
        Ok(Swept { requeued })
    }

    /// Held tasks of live steps that are lost by now; they are not found again.
    fn take_lost(&mut self) -> Vec<TaskRef> {
        let now = self.clock.now();
        let mut lost = Vec::new();
        while let Some((after, at)) = self.leases.first().copied().filter(|(after, _)| *after < now)
        {
            self.leases.remove(&(after, at));
            if self.is_held(at, after) {
                lost.push(at);
            }
        }
        lost
    }

    /// When the next held task counts as lost.
    pub(super) fn next_lost(&mut self) -> Option<Timestamp> {
        while let Some((after, at)) = self.leases.first().copied() {
            if self.is_held(at, after) {
                return Some(after + Duration::from_micros(1));
            }
            self.leases.remove(&(after, at));
        }
        None
    }

    fn is_held(&self, at: TaskRef, after: Timestamp) -> bool {
        let task = self.runs.get(&at.run).and_then(|run| run.task(at.step, at.index));
        let is_this_lease = |held: super::run::Held| held.lost_after == after;
        self.is_live(at) && task.and_then(|task| task.held).is_some_and(is_this_lease)
    }

    fn is_live(&self, at: TaskRef) -> bool {
        self.runs.get(&at.run).is_some_and(|run| {
            run.state.status == RunStatus::Started
                && run.state.steps[at.step].status == StepStatus::Started
        })
    }

    fn end_if_stalled(&mut self, at: TaskRef) -> Result<(), BackendError> {
        let is_live = self.is_live(at);
        let task = self.runs.get_mut(&at.run).and_then(|run| run.task_mut(at.step, at.index));
        let Some(task) = task.filter(|task| is_live && task.requeued >= MAX_REQUEUES) else {
            return Ok(());
        };
        task.is_stalled = true;
        let error = stalled_error(at.index, task.requeued);
        self.turn(at.run, |turn| turn.exhaust(at.step, &error)).unwrap_or(Ok(())).map_err(broken)
    }

    fn requeue(&mut self, at: TaskRef) -> bool {
        let is_live = self.is_live(at);
        let task = self.runs.get_mut(&at.run).and_then(|run| run.task_mut(at.step, at.index));
        let is_lost = task.filter(|task| is_live && task.status == TaskStatus::Started);
        let Some(task) = is_lost else { return false };
        task.requeued += 1;
        self.enqueue(at, 0);
        true
    }
}
