//! When to look for work.

use std::time::Duration;

use tokio::time::Instant;

use pgflow_backend::backoff::after;

/// Looks again after this time without a hint. Sweeps go along, so that an idle worker makes one call a second.
pub(super) const POLL: Duration = Duration::from_secs(1);
/// Never looks more often than this because of hints.
const PAUSE: Duration = Duration::from_millis(10);

/// When to claim next.
#[derive(Debug)]
pub(super) struct Pace {
    last: Option<Instant>,
    due: Instant,
    /// After a failure, hints do not count until then.
    not_before: Instant,
}

impl Pace {
    pub(super) fn new(now: Instant) -> Self {
        Self { last: None, due: now, not_before: now }
    }

    /// When to claim if there is room.
    pub(super) fn due(&self) -> Instant {
        self.due.max(self.not_before)
    }

    /// Whether a claim may go along with a settle.
    pub(super) fn may_join(&self, now: Instant) -> bool {
        self.not_before <= now
    }

    /// When something that is due then may be done.
    pub(super) fn not_before(&self, due: Instant) -> Instant {
        due.max(self.not_before)
    }

    /// A claim is on its way.
    pub(super) fn sent(&mut self, now: Instant) {
        self.last = Some(now);
        self.due = now + POLL;
    }

    /// A claim for `asked` tasks got `got`. Hints that came meanwhile stand.
    pub(super) fn answered(
        &mut self,
        now: Instant,
        asked: u32,
        got: usize,
        next_in: Option<Duration>,
    ) {
        if got >= asked as usize {
            self.due = now; // There may be more.
        } else if let Some(next_in) = next_in {
            self.due = self.due.min(after(now, next_in.max(PAUSE)));
        }
    }

    /// Something may have changed.
    pub(super) fn hint(&mut self, now: Instant) {
        let soonest = self.last.map_or(now, |last| now.max(last + PAUSE));
        self.due = self.due.min(soonest);
    }

    /// The database answers again: whatever waited for it may go.
    pub(super) fn recovered(&mut self, now: Instant) {
        (self.not_before, self.due) = (now, now);
    }

    /// The database did not answer: leave it alone for so long.
    pub(super) fn failed(&mut self, now: Instant, delay: Duration) {
        self.not_before = now + delay;
        self.due = self.not_before;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn idle() -> (Pace, Instant) {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        assert_eq!(pace.due(), start);
        pace.sent(start);
        pace.answered(start + MS, 8, 0, None);
        (pace, start)
    }

    #[test]
    fn an_idle_worker_waits_for_the_poll() {
        let (pace, start) = idle();
        assert_eq!(pace.due(), start + POLL);
    }

    #[test]
    fn a_hint_counts_at_once_but_a_storm_does_not() {
        let (mut pace, start) = idle();
        pace.hint(start + 500 * MS);
        assert_eq!(pace.due(), start + 500 * MS);
        pace.sent(start + 500 * MS);
        pace.answered(start + 501 * MS, 8, 0, None);
        for at in 501..509 {
            pace.hint(start + at * MS);
        }
        assert_eq!(pace.due(), start + 510 * MS);
    }

    #[test]
    fn a_hint_during_a_claim_is_not_forgotten() {
        let (mut pace, start) = idle();
        pace.sent(start + 500 * MS);
        pace.hint(start + 501 * MS);
        pace.answered(start + 520 * MS, 8, 0, None);
        assert_eq!(pace.due(), start + 510 * MS);
    }

    #[test]
    fn a_full_claim_is_followed_by_another() {
        let (mut pace, start) = idle();
        pace.sent(start);
        pace.answered(start + 5 * MS, 8, 8, None);
        assert_eq!(pace.due(), start + 5 * MS);
    }

    #[test]
    fn a_delayed_task_is_fetched_when_it_is_ready() {
        let (mut pace, start) = idle();
        pace.sent(start);
        pace.answered(start + MS, 8, 0, Some(300 * MS));
        assert_eq!(pace.due(), start + 301 * MS);
        pace.sent(start + 301 * MS);
        pace.answered(start + 302 * MS, 8, 0, Some(5000 * MS));
        assert_eq!(pace.due(), start + 301 * MS + POLL, "a lost hint must not wait for it");
    }

    #[test]
    fn no_hint_disturbs_a_database_that_is_down() {
        let (mut pace, start) = idle();
        pace.failed(start, 2000 * MS);
        pace.hint(start + MS);
        assert_eq!(pace.due(), start + 2000 * MS);
        assert!(!pace.may_join(start + 1999 * MS));
        assert!(pace.may_join(start + 2000 * MS));
        pace.recovered(start + 5 * MS);
        assert_eq!(pace.due(), start + 5 * MS, "somebody heard from it");
    }
}
