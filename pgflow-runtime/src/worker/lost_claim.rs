//! A claim whose answer got lost.
//!
//! It may have been committed: then the database says that this worker holds tasks which it does not know of.
//! They are given back, so that they wait neither for their lease nor count as lost.

use std::time::Duration;

use pgflow_machine::Lease;
use tokio::time::Instant;

use super::engine::Engine;
use super::metrics;
use super::trouble::Call;
use crate::backend::BackendError;

/// How long to wait after an answer before asking once more: the transaction of the lost claim may still be at
/// work when its connection is gone.
const AGAIN: [Duration; 3] =
    [Duration::from_secs(1), Duration::from_secs(4), Duration::from_secs(25)];
/// After so many failures in a row a claim need not wait for the answer, should it only be this that fails.
const FAILURES: usize = 5;

/// Whether to ask for tasks that we do not know of, and when.
#[derive(Debug, Default)]
pub(super) struct LostClaim(Option<Asking>);

#[derive(Debug)]
struct Asking {
    due: Instant,
    /// Questions that were answered.
    answers: usize,
    /// Since the last answer.
    failures: usize,
}

impl LostClaim {
    /// A claim went out, and its answer got lost.
    pub(super) fn lost(&mut self, now: Instant) {
        self.0 = Some(Asking { due: now, answers: 0, failures: 0 });
    }

    /// When to ask. The first time at once: nothing is claimed before.
    pub(super) fn due(&self) -> Option<Instant> {
        self.0.as_ref().map(|asking| asking.due)
    }

    /// Whether there is no answer yet.
    pub(super) fn is_unanswered(&self) -> bool {
        self.0.as_ref().is_some_and(|asking| asking.answers == 0)
    }

    pub(super) fn is_over(&self) -> bool {
        self.0.is_none()
    }

    pub(super) fn answered(&mut self, now: Instant) {
        self.0 = self.0.take().and_then(|Asking { answers, .. }| {
            let due = now + *AGAIN.get(answers)?;
            Some(Asking { due, answers: answers + 1, failures: 0 })
        });
    }

    /// No answer: it is asked again, and at some point after a claim.
    pub(super) fn failed(&mut self, now: Instant) {
        if let Some(asking) = &mut self.0 {
            asking.failures += 1;
            if asking.failures.is_multiple_of(FAILURES) {
                asking.due = now + AGAIN[0];
            }
        }
    }

    /// Asks at once if this is the last chance.
    pub(super) fn hurry(&mut self, now: Instant) {
        if let Some(asking) = &mut self.0 {
            asking.due = asking.due.min(now);
        }
    }

    pub(super) fn end(&mut self) {
        self.0 = None;
    }
}

impl Engine {
    /// All tasks that this worker knows it has.
    pub(super) fn known(&self) -> Vec<Lease> {
        let known = self.running.leases().chain(self.settles.leases()).cloned();
        known.chain(self.ahead.leases()).collect()
    }

    /// Tasks that we did not know of were given back, or not.
    pub(super) fn on_released(&mut self, unknown: Result<u64, BackendError>) {
        let now = Instant::now();
        match unknown {
            Ok(released) => {
                // That there was nothing to give back proves nothing.
                if released > 0 {
                    self.on_answer(Call::Upkeep);
                }
                self.lost_claim.answered(now);
                if self.is_leaving() {
                    self.lost_claim.end();
                }
                self.gave_back(now, released);
            }
            Err(error) => {
                let delay = self.trouble.failed(Call::Upkeep, "release_unknown", &error);
                self.pace.failed(now, delay);
                self.lost_claim.failed(now + delay);
            }
        }
    }

    fn gave_back(&mut self, now: Instant, released: u64) {
        if released == 0 {
            return;
        }
        tracing::warn!(released, "the answer to a claim got lost: gave its tasks back");
        ::metrics::counter!(metrics::GIVEN_BACK).increment(released);
        self.report.released += released;
        self.pace.hint(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_claim_is_asked_about_at_once_and_a_few_times_more() {
        let (mut lost, start) = (LostClaim::default(), Instant::now());
        assert!(lost.is_over() && lost.due().is_none());
        lost.lost(start);
        assert!(lost.is_unanswered());
        let mut now = start;
        for seconds in [0, 1, 5, 30] {
            assert_eq!(lost.due(), Some(start + Duration::from_secs(seconds)));
            now = lost.due().unwrap_or(now);
            lost.answered(now);
            assert!(!lost.is_unanswered());
        }
        assert!(lost.is_over());
    }

    #[test]
    fn a_question_that_is_never_answered_does_not_keep_a_worker_from_claiming() {
        let (mut lost, start) = (LostClaim::default(), Instant::now());
        lost.lost(start);
        for _ in 1..FAILURES {
            lost.failed(start);
            assert_eq!(lost.due(), Some(start));
        }
        lost.failed(start);
        assert_eq!(lost.due(), Some(start + AGAIN[0]), "time for a claim");
        assert!(lost.is_unanswered());
    }

    #[test]
    fn another_loss_starts_anew() {
        let (mut lost, start) = (LostClaim::default(), Instant::now());
        lost.lost(start);
        lost.answered(start);
        let later = start + Duration::from_millis(500);
        lost.lost(later);
        assert_eq!((lost.due(), lost.is_unanswered()), (Some(later), true));
    }
}
