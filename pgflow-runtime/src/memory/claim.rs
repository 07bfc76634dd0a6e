//! Taking work.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::{Lease, TaskKey, TaskStatus, Timestamp, WorkerId, lost_after};

use super::queue::{Place, TaskRef};
use super::run::Held;
use super::store::Store;
use crate::backend::{Claim, Claimed, ClaimedTask};

/// A step that tasks may be taken of.
struct Lane<'a> {
    queue: &'a str,
    step: usize,
    room: u32,
}

impl Store {
    pub(super) fn claim(&mut self, claim: &Claim) -> Claimed {
        let mut lanes = self.lanes(claim);
        let mut tasks = Vec::new();
        while tasks.len() < claim.max as usize {
            let Some((lane, place, task)) = self.oldest(&lanes) else { break };
            self.take(lanes[lane].queue, place, task);
            lanes[lane].room -= 1;
            tasks.extend(self.hand_out(task, claim.worker));
        }
        let now = self.clock.now();
        let next = lanes.iter().filter_map(|lane| self.next_after(lane, now)).min();
        Claimed { tasks, next_in: next.map(|next| now.saturating_until(next)) }
    }

    fn lanes<'a>(&self, claim: &'a Claim) -> Vec<Lane<'a>> {
        let queues: BTreeSet<&str> = claim.queues.iter().map(String::as_str).collect();
        let known = queues.into_iter().filter_map(|slug| Some((slug, self.versions.get(slug)?)));
        let mut lanes = Vec::new();
        for (queue, version) in known {
            for (step, planned) in version.plan.steps().iter().enumerate() {
                let of_step = claim
                    .quotas
                    .iter()
                    .filter(|quota| quota.flow == queue && *quota.step == *planned.slug);
                let room = of_step.map(|quota| quota.max).min().unwrap_or(u32::MAX);
                lanes.push(Lane { queue, step, room });
            }
        }
        lanes
    }

    /// The task that has been ready longest in lanes with room.
    fn oldest(&mut self, lanes: &[Lane<'_>]) -> Option<(usize, Place, TaskRef)> {
        let now = self.clock.now();
        let mut oldest = None;
        for (at, lane) in lanes.iter().enumerate().filter(|(_, lane)| lane.room > 0) {
            let Some((place, task)) = self.first_waiting(lane) else { continue };
            let is_older = oldest.is_none_or(|(_, other, _)| place < other);
            if place.0 <= now && is_older {
                oldest = Some((at, place, task));
            }
        }
        oldest
    }

    /// The first task of a lane. Those before it that are not wanted any more are dropped.
    fn first_waiting(&mut self, lane: &Lane<'_>) -> Option<(Place, TaskRef)> {
        loop {
            let (place, task) = self.queues.get(lane.queue)?.first(lane.step)?;
            if self.is_waiting(task, place.1) {
                return Some((place, task));
            }
            self.take(lane.queue, place, task);
        }
    }

    fn take(&mut self, queue: &str, place: Place, task: TaskRef) {
        if let Some(queue) = self.queues.get_mut(queue) {
            queue.remove(task.step, place);
        }
    }

    pub(super) fn next_due(&mut self) -> Option<Timestamp> {
        let versions: Vec<_> = self.versions.values().map(Arc::clone).collect();
        let mut due = self.next_lost();
        for version in versions {
            for step in 0..version.plan.steps().len() {
                let lane = Lane { queue: version.plan.slug(), step, room: u32::MAX };
                let ready_at = self.first_waiting(&lane).map(|((ready_at, _), _)| ready_at);
                due = due.into_iter().chain(ready_at).min();
            }
        }
        due
    }

    fn next_after(&self, lane: &Lane<'_>, now: Timestamp) -> Option<Timestamp> {
        self.queues.get(lane.queue)?.next_after(lane.step, now)
    }

    /// Leases a task.
    fn hand_out(&mut self, at: TaskRef, worker: WorkerId) -> Option<ClaimedTask> {
        let now = self.clock.now();
        let run = self.runs.get_mut(&at.run)?;
        let input = run.task_input(at.step, at.index);
        let planned = run.version.plan.step(at.step);
        let lost_after = lost_after(now, None, planned);
        let timeout = Duration::from_secs(planned.timeout.into());
        let (flow, step) = (run.plan().slug().to_string(), planned.slug.to_string());
        let task = run.task_mut(at.step, at.index)?;
        task.status = TaskStatus::Started;
        task.attempts += 1;
        task.held = Some(Held { worker, started_at: now, lost_after });
        self.leases.insert((lost_after, at));
        let key = TaskKey { run: at.run, step, index: at.index };
        let lease = Lease { task: key, attempt: task.attempts };
        Some(ClaimedTask { lease, flow, input, timeout })
    }
}
