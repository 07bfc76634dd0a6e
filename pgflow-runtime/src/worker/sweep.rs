//! When to look for tasks of workers that are gone.

use std::time::Duration;

use tokio::time::Instant;

use super::pace::POLL;
use pgflow_backend::backoff::jittered;

/// About this often: a task of a worker that was killed waits for its lease, and then not longer than five
/// seconds for a sweep of any one process.
const EVERY: Duration = Duration::from_secs(3);
/// A claim that brings no results takes a sweep along. If none comes in this time, as when there is no free slot,
/// the sweep goes alone.
const ALONE: Duration = POLL.saturating_add(Duration::from_millis(100));

/// When to sweep.
#[derive(Debug)]
pub(super) struct Sweeps {
    next: Instant,
}

impl Sweeps {
    pub(super) fn new(now: Instant) -> Self {
        // Soon after the start, but not all processes of a deployment at once.
        Self { next: now + jittered(EVERY / 4) }
    }

    /// Not now, but in a while: first this worker says what it has.
    pub(super) fn put_off(&mut self, now: Instant) {
        self.next = now + jittered(EVERY);
    }

    /// When to sweep alone.
    pub(super) fn due(&self) -> Instant {
        self.next + ALONE
    }

    /// Whether to sweep with a claim; the next one is then set.
    pub(super) fn go_along(&mut self, now: Instant) -> bool {
        let is_due = self.next <= now;
        if is_due {
            self.next = now + jittered(EVERY);
        }
        is_due
    }

    /// Whether to sweep alone; the next one is then set.
    pub(super) fn go_alone(&mut self, now: Instant) -> bool {
        self.next + ALONE <= now && self.go_along(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_waits_for_a_claim_and_not_for_long() {
        let start = Instant::now();
        let mut sweeps = Sweeps::new(start);
        let longest = EVERY.mul_f64(1.25) + ALONE;
        assert!(longest <= Duration::from_secs(5), "as promised: {longest:?}");
        let due = sweeps.due();
        assert!(!sweeps.go_alone(due - ALONE) && sweeps.go_along(due - ALONE));
        assert!(!sweeps.go_along(due), "it is done");
        let due = sweeps.due();
        assert!(sweeps.go_alone(due) && !sweeps.go_alone(due));
    }
}
