//! When to look for tasks of workers that are gone.

use std::time::Duration;

use tokio::time::Instant;

use super::shutdown::Stage;
use crate::backoff::jittered;

/// About this often: a task of a worker that was killed waits for its lease, and then not longer than five
/// seconds for a sweep of any one process.
const EVERY: Duration = Duration::from_secs(4);

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

    pub(super) fn due(&self, stage: &Stage) -> Option<Instant> {
        stage.is_working().then_some(self.next)
    }

    /// Whether it is time; the next one is then set.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        let is_due = self.next <= now;
        if is_due {
            self.next = now + jittered(EVERY);
        }
        is_due
    }
}
