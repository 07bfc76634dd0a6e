//! Tasks that wait for a worker.

use std::collections::BTreeMap;

use pgflow_machine::{RunId, Timestamp};

/// A task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TaskRef {
    pub(super) run: RunId,
    pub(super) step: usize,
    pub(super) index: u32,
}

/// Its place: when it may be claimed, and its ticket.
pub(super) type Place = (Timestamp, u64);

/// The queue of a version of a flow. Steps wait apart, so that those a worker has no room for cost nothing.
#[derive(Debug)]
pub(super) struct Queue {
    steps: Vec<BTreeMap<Place, TaskRef>>,
}

impl Queue {
    pub(super) fn new(steps: usize) -> Self {
        Self { steps: vec![BTreeMap::new(); steps] }
    }

    pub(super) fn push(&mut self, place: Place, task: TaskRef) {
        self.steps[task.step].insert(place, task);
    }

    /// The first task of a step.
    pub(super) fn first(&self, step: usize) -> Option<(Place, TaskRef)> {
        self.steps[step].first_key_value().map(|(place, task)| (*place, *task))
    }

    pub(super) fn remove(&mut self, step: usize, place: Place) {
        self.steps[step].remove(&place);
    }

    /// When the first task of a step that is not ready at `now` becomes ready.
    pub(super) fn next_after(&self, step: usize, now: Timestamp) -> Option<Timestamp> {
        let later = self.steps[step].range((now, u64::MAX)..).next();
        later.map(|((ready_at, _), _)| *ready_at)
    }
}
