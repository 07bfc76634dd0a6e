//! Tasks that a worker has at the moment.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use pgflow_machine::{Beat, Lease, Settle, Verdict};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::slots::Slot;
use crate::StepDef;
use crate::cancel::Cancel;

/// A lease outlasts the timeout by this.
const LEASE_MARGIN: Duration = Duration::from_secs(2);
/// Cancellations are noticed after this at the latest, however long a step may take.
const LONGEST_BEAT: Duration = Duration::from_secs(15);
/// A handler that was told to stop has this long to tidy up.
pub(super) const TIDY_UP: Duration = Duration::from_secs(1);

/// A task whose handler runs.
#[derive(Debug)]
pub(super) struct Holding {
    pub(super) step: &'static StepDef,
    pub(super) flow: &'static str,
    pub(super) slot: Slot,
    pub(super) cancel: Cancel,
    pub(super) handler: AbortHandle,
    /// The lease is gone, or the run has ended: nobody wants the result.
    pub(super) is_unwanted: bool,
    pub(super) since: Instant,
    beat_every: Duration,
    beat_at: Instant,
}

impl Holding {
    pub(super) fn new(
        (flow, step): (&'static str, &'static StepDef),
        slot: Slot,
        cancel: Cancel,
        handler: AbortHandle,
        timeout: Duration,
    ) -> Self {
        let beat_every = (timeout.saturating_add(LEASE_MARGIN) / 4).min(LONGEST_BEAT);
        let since = Instant::now();
        let beat_at = since + beat_every;
        Self { step, flow, slot, cancel, handler, is_unwanted: false, since, beat_every, beat_at }
    }
}

/// Tasks whose handlers run.
#[derive(Debug, Default)]
pub(super) struct Held {
    tasks: HashMap<Lease, Holding>,
    /// No heartbeat is due before this.
    next_beat: Option<Instant>,
    /// Handlers that were told to stop, and when they are aborted.
    stopping: VecDeque<(Instant, Lease)>,
}

impl Held {
    pub(super) fn insert(&mut self, lease: Lease, holding: Holding) {
        let beat_at = holding.beat_at;
        self.next_beat = Some(self.next_beat.map_or(beat_at, |next| next.min(beat_at)));
        self.tasks.insert(lease, holding);
    }

    pub(super) fn remove(&mut self, lease: &Lease) -> Option<Holding> {
        self.tasks.remove(lease)
    }

    pub(super) fn leases(&self) -> impl Iterator<Item = &Lease> {
        self.tasks.keys()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// When a heartbeat is due.
    pub(super) fn next_beat(&self) -> Option<Instant> {
        self.next_beat.filter(|_| !self.tasks.is_empty())
    }

    /// When a handler that was told to stop is aborted.
    pub(super) fn next_abort(&self) -> Option<Instant> {
        self.stopping.front().map(|(at, _)| *at)
    }

    /// Leases to beat for, if one is due: with those that would be due soon, so that one call does for all.
    pub(super) fn beats(&mut self, now: Instant) -> Vec<Lease> {
        if self.next_beat.is_none_or(|next| next > now) {
            return Vec::new();
        }
        let mut leases = Vec::new();
        for (lease, holding) in self.tasks.iter_mut().filter(|(_, holding)| !holding.is_unwanted) {
            if holding.beat_at <= now + holding.beat_every / 2 {
                holding.beat_at = now + holding.beat_every;
                leases.push(lease.clone());
            }
        }
        let wanted = self.tasks.values().filter(|holding| !holding.is_unwanted);
        self.next_beat = wanted.map(|holding| holding.beat_at).min();
        leases.sort_unstable();
        leases
    }

    /// Beats that were not heard: they are sent again soon.
    pub(super) fn unheard(&mut self, now: Instant, delay: Duration) {
        for holding in self.tasks.values_mut() {
            holding.beat_at = holding.beat_at.min(now + delay);
        }
        self.next_beat = Some(now + delay);
    }

    /// What a heartbeat said: handlers of tasks that are not ours any more are told to stop.
    pub(super) fn answered(&mut self, now: Instant, leases: &[Lease], beats: &[Beat]) {
        for (lease, beat) in leases.iter().zip(beats) {
            if *beat == Beat::Extended {
                continue;
            }
            if let Some(holding) = self.tasks.get_mut(lease) {
                holding.is_unwanted = true;
                holding.cancel.set();
                self.stopping.push_back((now + TIDY_UP, lease.clone()));
            }
        }
    }

    /// Aborts handlers that were told to stop long enough ago.
    pub(super) fn abort_due(&mut self, now: Instant) {
        while let Some((_, lease)) = self.stopping.pop_front_if(|(at, _)| *at <= now) {
            if let Some(holding) = self.tasks.get(&lease) {
                holding.handler.abort();
            }
        }
    }

    /// Tells every handler to stop.
    pub(super) fn cancel_all(&self) {
        self.tasks.values().for_each(|holding| holding.cancel.set());
    }

    /// Aborts every handler; what the tasks are given back with.
    pub(super) fn give_up(&mut self) -> Vec<Settle> {
        let released = self.tasks.drain().filter_map(|(lease, holding)| {
            holding.cancel.set();
            holding.handler.abort();
            holding.count_given_up();
            let settle = Settle { lease, verdict: Verdict::Released };
            (!holding.is_unwanted).then_some(settle)
        });
        released.collect()
    }
}

/// A worker that is dropped, or panics, leaves no handler behind: nobody would record what it returns.
impl Drop for Held {
    fn drop(&mut self) {
        self.give_up();
    }
}

#[cfg(test)]
mod tests {
    use pgflow_machine::{RunId, TaskKey};

    use super::*;
    use crate::worker::slots::Slots;

    fn lease(index: u32) -> Lease {
        let task = TaskKey { run: RunId::from_key("flow", "run"), step: "step".into(), index };
        Lease { task, attempt: 1 }
    }

    fn held(timeouts: &[u64]) -> Held {
        const STEP: &StepDef = &StepDef::PLAIN;
        let mut held = Held::default();
        for (index, timeout) in (0..).zip(timeouts) {
            let handler = tokio::spawn(std::future::pending::<()>()).abort_handle();
            let slot = Slots::new(9).take("flow", STEP);
            let timeout = Duration::from_secs(*timeout);
            let holding = Holding::new(("flow", STEP), slot, Cancel::default(), handler, timeout);
            held.insert(lease(index), holding);
        }
        held
    }

    #[tokio::test]
    async fn beats_at_a_quarter_of_the_lease() {
        let start = Instant::now();
        let mut held = held(&[6, 6, 3600]);
        let due = held.next_beat().expect("there are tasks");
        assert!(
            (Duration::from_millis(1900)..=Duration::from_millis(2100)).contains(&(due - start))
        );
        assert_eq!(held.beats(start), []);
        assert_eq!(held.beats(due), [lease(0), lease(1)]);
        let next = held.next_beat().expect("there are tasks");
        assert_eq!(next - due, Duration::from_secs(2));
    }

    #[tokio::test]
    async fn what_is_lost_is_told_and_then_aborted() {
        let mut held = held(&[6, 6]);
        let now = Instant::now();
        let leases = [lease(0), lease(1)];
        held.answered(now, &leases, &[Beat::Extended, Beat::Cancelled]);
        assert!(held.tasks[&lease(1)].cancel.is_set() && !held.tasks[&lease(0)].cancel.is_set());
        held.abort_due(now + TIDY_UP / 2);
        assert_eq!(held.stopping.len(), 1);
        held.abort_due(now + TIDY_UP);
        tokio::task::yield_now().await;
        assert!(held.tasks[&lease(1)].handler.is_finished());
        assert!(!held.tasks[&lease(0)].handler.is_finished());
        assert_eq!(held.give_up().len(), 1, "nobody waits for the other");
    }
}
