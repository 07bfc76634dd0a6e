//! How much a worker can do at once.

use crate::backend::Quota;
use crate::{Served, StepDef};

/// Room for tasks: in all, and of steps with a limit of their own.
#[derive(Debug)]
pub(super) struct Slots {
    total: usize,
    taken: usize,
    limits: Vec<StepLimit>,
    /// Which version of a limited step gets the odd task: taken in turns.
    turn: usize,
}

/// A limit on the tasks of one step, over all versions of its flow.
#[derive(Debug)]
struct StepLimit {
    flow: &'static str,
    step: &'static str,
    max: usize,
    taken: usize,
    /// Slugs of a version of the flow and of the step in it.
    names: Vec<(&'static str, &'static str)>,
}

/// Which limit a task counts towards, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot(Option<usize>);

impl Slots {
    pub(super) fn new(total: usize) -> Self {
        Self { total, taken: 0, limits: Vec::new(), turn: 0 }
    }

    /// Adds a limit on a step of a flow, by the names it has in the versions that are served.
    pub(super) fn limit(
        &mut self,
        flow: &'static str,
        step: &'static str,
        max: usize,
        served: &[Served],
    ) {
        let of_flow = served.iter().filter(|version| version.flow().slug == flow);
        let names = of_flow.map(|version| (version.slug(), version.former(step))).collect();
        self.limits.push(StepLimit { flow, step, max, taken: 0, names });
    }

    pub(super) fn free(&self) -> usize {
        self.total.saturating_sub(self.taken)
    }

    pub(super) fn take(&mut self, flow: &str, step: &StepDef) -> Slot {
        self.taken += 1;
        let at = self.limits.iter().position(|limit| limit.flow == flow && limit.step == step.slug);
        if let Some(at) = at {
            self.limits[at].taken += 1;
        }
        Slot(at)
    }

    pub(super) fn give_back(&mut self, slot: Slot) {
        self.taken -= 1;
        if let Some(at) = slot.0 {
            self.limits[at].taken -= 1;
        }
    }

    /// What a claim may take of the limited steps, so that all it gets can start.
    pub(super) fn quotas(&mut self) -> Vec<Quota> {
        self.turn = self.turn.wrapping_add(1);
        let turn = self.turn;
        self.limits.iter().flat_map(|limit| limit.quotas(turn)).collect()
    }
}

impl StepLimit {
    /// What is left, shared among the versions.
    fn quotas(&self, turn: usize) -> impl Iterator<Item = Quota> {
        let (left, versions) = (self.max.saturating_sub(self.taken), self.names.len());
        self.names.iter().enumerate().map(move |(at, (flow, step))| {
            let is_lucky = (at + turn) % versions < left % versions;
            let max = left / versions + usize::from(is_lucky);
            let max = u32::try_from(max).unwrap_or(u32::MAX);
            Quota { flow: (*flow).to_owned(), step: (*step).to_owned(), max }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limited(max: usize, versions: &[&'static str]) -> Slots {
        let mut slots = Slots::new(10);
        let names = versions.iter().map(|slug| (*slug, "pay")).collect();
        slots.limits.push(StepLimit { flow: "order", step: "pay", max, taken: 0, names });
        slots
    }

    fn asked(slots: &mut Slots) -> Vec<u32> {
        slots.quotas().iter().map(|quota| quota.max).collect()
    }

    #[test]
    fn a_limit_is_left_with_what_is_not_taken() {
        let mut slots = limited(4, &["order"]);
        let pay = StepDef { slug: "pay", ..StepDef::PLAIN };
        let taken = [slots.take("order", &pay), slots.take("order", &pay)];
        let other = slots.take("order", &StepDef { slug: "ship", ..StepDef::PLAIN });
        assert_eq!((slots.free(), asked(&mut slots)), (7, vec![2]));
        for slot in taken {
            slots.give_back(slot);
        }
        slots.give_back(other);
        assert_eq!((slots.free(), asked(&mut slots)), (10, vec![4]));
    }

    #[test]
    fn versions_share_a_limit_in_turns() {
        let mut slots = limited(3, &["order", "order__v2"]);
        let (first, second) = (asked(&mut slots), asked(&mut slots));
        assert_eq!(first.iter().sum::<u32>(), 3);
        assert_ne!(first, second, "the odd one goes to the other");
    }
}
