//! Results that the database refuses, though nothing is known to be wrong with them.

use std::collections::VecDeque;
use std::time::Duration;

use pgflow_machine::{Lease, Settle};
use tokio::time::Instant;

use super::settles::{BATCH, BATCH_BYTES, weight_of};
use pgflow_backend::backoff::Backoff;

/// So many refusals with nothing recorded in between: it is not single results that are refused.
const FEW: usize = 8;

/// Results that were refused all by themselves, for a reason that may pass. One of them is tried again from time to
/// time, in turns; once it is recorded, so may the others be.
#[derive(Debug)]
pub(super) struct Refused {
    results: VecDeque<Kept>,
    /// What they weigh together.
    bytes: usize,
    /// The one that is tried again was refused after the last one that was recorded.
    tried: Option<bool>,
    due: Option<Instant>,
    backoff: Backoff,
}

#[derive(Debug)]
struct Kept {
    settle: Settle,
    /// Nothing was recorded since.
    is_fresh: bool,
}

impl Default for Refused {
    fn default() -> Self {
        let backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(5));
        Self { results: VecDeque::new(), bytes: 0, tried: None, due: None, backoff }
    }
}

impl Refused {
    /// It goes to the end, and the next try is later than the last.
    pub(super) fn add(&mut self, settle: Settle, now: Instant) {
        self.bytes += weight_of(&settle.verdict);
        let is_fresh = self.tried.take().unwrap_or(true);
        self.results.push_back(Kept { settle, is_fresh });
        self.due = Some(now + self.backoff.next());
    }

    pub(super) fn leases(&self) -> impl Iterator<Item = &Lease> {
        self.results.iter().map(|kept| &kept.settle.lease)
    }

    pub(super) fn len(&self) -> usize {
        self.results.len()
    }

    /// Whether more tasks would lead to more of them: what handlers do would go on, and nothing would know of it.
    pub(super) fn is_full(&self) -> bool {
        let fresh = self.results.iter().filter(|kept| kept.is_fresh).count();
        fresh >= FEW || self.results.len() >= BATCH || self.bytes >= BATCH_BYTES
    }

    /// Something was recorded, so not everything is refused.
    pub(super) fn recorded(&mut self) {
        self.tried = None;
        self.results.iter_mut().for_each(|kept| kept.is_fresh = false);
    }

    /// When to try the next one.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due.filter(|_| !self.results.is_empty())
    }

    /// The next one, if it is time.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<Settle> {
        self.due().filter(|due| *due <= now)?;
        let Kept { settle, is_fresh } = self.results.pop_front()?;
        self.bytes -= weight_of(&settle.verdict);
        self.tried = Some(is_fresh);
        Some(settle)
    }

    /// All of them: there is hope.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Settle> {
        self.backoff.reset();
        self.bytes = 0;
        std::mem::take(&mut self.results).into_iter().map(|kept| kept.settle)
    }
}

#[cfg(test)]
mod tests {
    use pgflow_machine::{RunId, TaskKey, TaskLease, Verdict};

    use super::*;

    fn result(index: usize, bytes: usize) -> Settle {
        let index = u32::try_from(index).expect("a few");
        let task = TaskKey { run: RunId::from_key("flow", "run"), step: "step".into(), index };
        let verdict = Verdict::Completed("x".repeat(bytes).into());
        Settle { lease: TaskLease { task, attempt: 1 }.into(), verdict }
    }

    #[test]
    fn a_few_in_a_row_are_enough() {
        let (mut refused, now) = (Refused::default(), Instant::now());
        for index in 0..FEW {
            assert!(!refused.is_full());
            refused.add(result(index, 1), now);
        }
        assert!(refused.is_full());
        refused.recorded();
        assert!(!refused.is_full(), "others are recorded");
    }

    #[test]
    fn one_that_is_refused_again_and_again_stops_nobody() {
        let (mut refused, now) = (Refused::default(), Instant::now());
        refused.add(result(0, 1), now);
        for _ in 0..FEW * 2 {
            let later = refused.due().expect("it is tried again");
            let again = refused.take_due(later).expect("it is time");
            refused.add(again, later);
            assert!(!refused.is_full() && refused.len() == 1);
        }
    }

    #[test]
    fn there_is_a_limit_in_all() {
        let now = Instant::now();
        for (most, bytes) in [(BATCH, 1), (3, BATCH_BYTES / 3)] {
            let mut refused = Refused::default();
            for index in 0..most {
                refused.add(result(index, bytes), now);
                refused.recorded();
                assert_eq!(refused.is_full(), index + 1 == most, "{index} of {most}");
            }
            assert_eq!(refused.take_all().count(), most);
            assert!(!refused.is_full());
        }
    }
}
