//! Tasks that wait for a worker.

use std::collections::BTreeMap;
use std::ops::Bound;

use pgflow_machine::{TaskRef, Timestamp};

/// The place of a task: when it may be claimed, and its ticket.
pub(super) type QueueKey = (Timestamp, u64);

/// The queue of a version of a flow. Steps wait apart, so that those a worker has no room for cost nothing.
#[derive(Debug)]
pub(super) struct Queue {
    steps: Vec<BTreeMap<QueueKey, TaskRef>>,
}

impl Queue {
    pub(super) fn new(steps: usize) -> Self {
        Self { steps: vec![BTreeMap::new(); steps] }
    }

    pub(super) fn push(&mut self, place: QueueKey, task: TaskRef) {
        self.steps[task.step].insert(place, task);
    }

    pub(super) fn remove(&mut self, step: usize, place: QueueKey) {
        self.steps[step].remove(&place);
    }

    /// Tasks of a step that became ready after the first moment, up to the second.
    pub(super) fn between(
        &self,
        step: usize,
        (after, until): (Timestamp, Timestamp),
    ) -> impl Iterator<Item = (QueueKey, TaskRef)> {
        let bounds = (Bound::Excluded((after, u64::MAX)), Bound::Included((until, u64::MAX)));
        self.steps[step].range(bounds).map(|(place, task)| (*place, *task))
    }

    /// When the first task of a step becomes ready that is not at this moment.
    pub(super) fn next_after(&self, step: usize, now: Timestamp) -> Option<Timestamp> {
        let later = self.steps[step].range((now, u64::MAX)..).next();
        later.map(|((ready_at, _), _)| *ready_at)
    }

    /// When its first task is ready.
    pub(super) fn first(&self) -> Option<Timestamp> {
        let first = |step: &BTreeMap<QueueKey, TaskRef>| Some(step.first_key_value()?.0.0);
        self.steps.iter().filter_map(first).min()
    }
}
