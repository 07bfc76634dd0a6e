//! Tasks that a worker holds and does not know of.

use std::collections::HashSet;

use pgflow_machine::{Lease, Settle, Settled, TaskKey, Verdict, WorkerId};

use super::queue::TaskRef;
use super::store::Store;
use crate::backend::BackendError;

impl Store {
    pub(super) fn release_unknown(
        &mut self,
        worker: WorkerId,
        queues: &[String],
        known: &[Lease],
    ) -> Result<u64, BackendError> {
        let known: HashSet<&Lease> = known.iter().collect();
        let held = self.leases.iter().filter_map(|(_, at)| self.lease(*at, worker, queues));
        let unknown = held.filter(|lease| !known.contains(lease));
        let settles: Vec<_> =
            unknown.map(|lease| Settle { lease, verdict: Verdict::Released }).collect();
        let outcomes = self.settle(&settles)?;
        Ok(outcomes.iter().filter(|outcome| **outcome == Settled::Applied).count() as u64)
    }

    /// What a worker holds a task of these queues with, if it does.
    fn lease(&self, at: TaskRef, worker: WorkerId, queues: &[String]) -> Option<Lease> {
        let run = self.runs.get(&at.run)?;
        let task = run.task(at.step, at.index)?;
        let is_its = task.held.is_some_and(|held| held.worker == worker);
        let is_asked = queues.iter().any(|queue| **queue == **run.plan().slug());
        let step = run.plan().step(at.step).slug.to_string();
        let task_key = TaskKey { run: at.run, step, index: at.index };
        (is_its && is_asked).then_some(Lease { task: task_key, attempt: task.attempts })
    }
}
