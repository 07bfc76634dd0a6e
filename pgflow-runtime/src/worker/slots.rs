//! How much a worker can do at once.

use super::{InUse, Permit};

/// Room for attempts.
#[derive(Debug)]
pub(super) struct Slots {
    total: usize,
    in_use: InUse,
}

impl Slots {
    pub(super) fn new(total: usize) -> Self {
        Self { total, in_use: InUse::default() }
    }

    pub(super) fn free(&self) -> usize {
        self.total.saturating_sub(self.in_use.count())
    }

    pub(super) fn take(&self) -> Permit {
        self.in_use.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_free_again_when_its_attempt_is_over() {
        let slots = Slots::new(2);
        let taken = [slots.take(), slots.take()];
        assert_eq!(slots.free(), 0);
        let [first, _second] = taken;
        drop(first);
        assert_eq!(slots.free(), 1);
    }
}
