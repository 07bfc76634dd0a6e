//! Leases that a worker has to keep.

use std::collections::HashMap;
use std::time::Duration;

use pgflow_machine::{Lease, RunId};
use tokio::time::Instant;

/// Cancellations are noticed after this at the latest, however long a step may take.
const LONGEST_BEAT: Duration = Duration::from_secs(15);
/// Between two calls because of hints that do not say what happened.
const SOON: Duration = Duration::from_secs(2);
/// One call speaks for at most so many; the others follow at once.
const MOST: usize = 5000;

/// Leases of handlers that run and of results that are not recorded yet: no other worker may take those.
#[derive(Debug, Default)]
pub(super) struct Leases {
    beats: HashMap<Lease, Beating>,
    /// No heartbeat is due before this.
    next: Option<Instant>,
    /// When the last call was made.
    asked: Option<Instant>,
}

#[derive(Debug)]
struct Beating {
    every: Duration,
    at: Instant,
}

impl Leases {
    /// Something was claimed, and nobody has it any more after so long.
    pub(super) fn insert(&mut self, lease: Lease, lasts: Duration) {
        let every = (lasts / 4).min(LONGEST_BEAT);
        let at = Instant::now() + every;
        self.next = Some(self.next.map_or(at, |next| next.min(at)));
        self.beats.insert(lease, Beating { every, at });
    }

    /// It is recorded, or another worker's.
    pub(super) fn remove(&mut self, lease: &Lease) {
        self.beats.remove(lease);
    }

    /// When a heartbeat is due.
    pub(super) fn next_beat(&self) -> Option<Instant> {
        self.next.filter(|_| !self.beats.is_empty())
    }

    /// Leases to beat for, if one is due: with those that would be due soon, so that one call does for all.
    pub(super) fn due(&mut self, now: Instant) -> Vec<Lease> {
        if self.next.is_none_or(|next| next > now) {
            return Vec::new();
        }
        self.asked = Some(now);
        let mut leases = Vec::new();
        for (lease, beating) in &mut self.beats {
            if leases.len() < MOST && beating.at <= now + beating.every / 2 {
                beating.at = now + beating.every;
                leases.push(lease.clone());
            }
        }
        self.next = self.beats.values().map(|beating| beating.at).min();
        leases.sort_unstable();
        leases
    }

    /// Beats that were not heard: they are sent again soon.
    pub(super) fn unheard(&mut self, now: Instant, delay: Duration) {
        self.sooner(now + delay, |_| true);
    }

    /// Hints were missed, and a run may have ended: ask about all tasks soon, but not all the time.
    pub(super) fn ask_about_all(&mut self, now: Instant) {
        let soonest = self.asked.map_or(now, |asked| now.max(asked + SOON));
        self.sooner(soonest, |_| true);
    }

    /// A run has ended: ask about its tasks at once.
    pub(super) fn ask_about(&mut self, run: RunId, now: Instant) {
        self.sooner(now, |lease| lease.task().is_some_and(|lease| lease.task.run == run));
    }

    fn sooner(&mut self, at: Instant, is_meant: impl Fn(&Lease) -> bool) {
        for (_, beating) in self.beats.iter_mut().filter(|(lease, _)| is_meant(lease)) {
            beating.at = beating.at.min(at);
            self.next = Some(self.next.map_or(at, |next| next.min(at)));
        }
    }
}

#[cfg(test)]
mod tests {
    use pgflow_machine::{TaskKey, TaskLease};

    use super::*;

    fn lease(index: u32) -> Lease {
        let task = TaskKey { run: RunId::from_key("flow", "run"), step: "step".into(), index };
        TaskLease { task, attempt: 1 }.into()
    }

    fn leases(lasting: impl IntoIterator<Item = u64>) -> Leases {
        let mut leases = Leases::default();
        for (index, lasts) in (0..).zip(lasting) {
            leases.insert(lease(index), Duration::from_secs(lasts));
        }
        leases
    }

    #[test]
    fn beats_at_a_quarter_of_the_lease() {
        let start = Instant::now();
        let mut leases = leases([8, 8, 3600]);
        let due = leases.next_beat().expect("there are tasks");
        assert!(
            (Duration::from_millis(1900)..=Duration::from_millis(2100)).contains(&(due - start))
        );
        assert_eq!(leases.due(start), []);
        assert_eq!(leases.due(due), [lease(0), lease(1)]);
        let next = leases.next_beat().expect("there are tasks");
        assert_eq!(next - due, Duration::from_secs(2));
    }

    #[test]
    fn a_call_speaks_for_some_and_the_next_for_the_others() {
        let mut leases = leases(std::iter::repeat_n(8, MOST + 10));
        let due = leases.next_beat().expect("there are tasks") + Duration::from_secs(1);
        assert_eq!(leases.due(due).len(), MOST);
        assert!(leases.next_beat().is_some_and(|next| next <= due));
        assert_eq!(leases.due(due).len(), 10);
        assert_eq!(leases.due(due), []);
    }

    #[test]
    fn a_run_that_ended_is_asked_about_at_once() {
        let (mut leases, now) = (leases([8]), Instant::now());
        leases.ask_about(RunId::from_key("flow", "other"), now);
        assert_eq!(leases.due(now), []);
        leases.ask_about(RunId::from_key("flow", "run"), now);
        assert_eq!(leases.due(now), [lease(0)]);
        leases.ask_about_all(now);
        assert_eq!((leases.due(now), leases.next_beat()), (vec![], Some(now + SOON)));
    }
}
