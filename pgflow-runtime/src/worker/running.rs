//! Tasks that a worker has at the moment.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use pgflow_machine::{Lease, Settle, Verdict};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::Permit;
use super::handler::{Label, Signals};

/// A handler that was told to stop has this long to tidy up.
pub(super) const TIDY_UP: Duration = Duration::from_secs(1);

/// What of an attempt is to be recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// What came of it.
    Result,
    /// That it is over: its run has ended, so its result would be refused, and until then it holds what its step holds.
    End,
    /// Nothing: its lease is gone, and another worker may have the task.
    Nothing,
}

/// A task whose handler runs.
#[derive(Debug)]
pub(super) struct RunningAttempt {
    pub(super) label: Label,
    /// The worker's slot, and what it takes of other limits.
    _permits: (Permit, Option<Permit>),
    pub(super) signals: Signals,
    pub(super) handler: AbortHandle,
    pub(super) wanted: Wanted,
    /// The worker has ended it, and waits for the handler to give its thread back.
    pub(super) is_settled: bool,
    /// It was said that the handler blocks its thread.
    pub(super) is_named: bool,
    pub(super) since: Instant,
    pub(super) timeout: Duration,
}

impl RunningAttempt {
    pub(super) fn new(
        label: Label,
        permits: (Permit, Option<Permit>),
        signals: Signals,
        handler: AbortHandle,
        timeout: Duration,
    ) -> Self {
        let (wanted, is_settled, is_named) = (Wanted::Result, false, false);
        let since = Instant::now();
        Self {
            label,
            _permits: permits,
            signals,
            handler,
            wanted,
            is_settled,
            is_named,
            since,
            timeout,
        }
    }
}

/// Tasks whose handlers run.
#[derive(Debug, Default)]
pub(super) struct RunningAttempts {
    tasks: HashMap<Lease, RunningAttempt>,
    /// Handlers that were told to stop, and when they are aborted.
    stopping: VecDeque<(Instant, Lease)>,
}

impl RunningAttempts {
    pub(super) fn insert(&mut self, lease: Lease, holding: RunningAttempt) {
        self.tasks.insert(lease, holding);
    }

    pub(super) fn remove(&mut self, lease: &Lease) -> Option<RunningAttempt> {
        self.tasks.remove(lease)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&Lease, &mut RunningAttempt)> {
        self.tasks.iter_mut()
    }

    pub(super) fn get_mut(&mut self, lease: &Lease) -> Option<&mut RunningAttempt> {
        self.tasks.get_mut(lease)
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

    /// When a handler that was told to stop is aborted.
    pub(super) fn next_abort(&self) -> Option<Instant> {
        self.stopping.front().map(|(at, _)| *at)
    }

    /// It is not ours any more, or its run has ended: its handler is told to stop.
    pub(super) fn lose(&mut self, now: Instant, lease: &Lease, wanted: Wanted) {
        if let Some(holding) = self.tasks.get_mut(lease) {
            holding.wanted = wanted;
        }
        self.call_off(now, lease);
    }

    /// Its handler is told to stop, and what comes of that is still wanted.
    pub(super) fn call_off(&mut self, now: Instant, lease: &Lease) {
        if let Some(holding) = self.tasks.get_mut(lease) {
            holding.signals.cancel.set();
            self.stopping.push_back((now + TIDY_UP, lease.clone()));
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
        self.tasks.values().for_each(|holding| holding.signals.cancel.set());
    }

    /// Aborts every handler; what the tasks are given back with.
    pub(super) fn give_up(&mut self) -> Vec<Settle> {
        let released = self.tasks.drain().filter_map(|(lease, holding)| {
            holding.signals.cancel.set();
            holding.handler.abort();
            holding.count_given_up();
            let settle = Settle { lease, verdict: Verdict::Released };
            (holding.wanted != Wanted::Nothing && !holding.is_settled).then_some(settle)
        });
        released.collect()
    }
}

/// A worker that is dropped, or panics, leaves no handler behind: its result would not be recorded.
impl Drop for RunningAttempts {
    fn drop(&mut self) {
        self.give_up();
    }
}

#[cfg(test)]
mod tests {
    use pgflow_machine::{RunId, TaskKey, TaskLease};

    use super::*;
    use crate::worker::InUse;

    fn lease(index: u32) -> Lease {
        let task = TaskKey { run: RunId::from_key("flow", "run"), step: "step".into(), index };
        TaskLease { task, attempt: 1 }.into()
    }

    fn held(count: u32) -> RunningAttempts {
        const LABEL: Label = Label { flow: "flow", step: "step" };
        let mut held = RunningAttempts::default();
        for index in 0..count {
            let handler = tokio::spawn(std::future::pending::<()>()).abort_handle();
            let permits = (InUse::default().take(), None);
            let timeout = Duration::from_secs(6);
            let holding = RunningAttempt::new(LABEL, permits, Signals::default(), handler, timeout);
            held.insert(lease(index), holding);
        }
        held
    }

    #[tokio::test]
    async fn what_is_lost_is_told_and_then_aborted() {
        let (mut held, now) = (held(2), Instant::now());
        held.lose(now, &lease(1), Wanted::Nothing);
        assert!(
            held.tasks[&lease(1)].signals.cancel.is_set()
                && !held.tasks[&lease(0)].signals.cancel.is_set()
        );
        held.abort_due(now + TIDY_UP / 2);
        assert_eq!(held.stopping.len(), 1);
        held.abort_due(now + TIDY_UP);
        tokio::task::yield_now().await;
        assert!(held.tasks[&lease(1)].handler.is_finished());
        assert!(!held.tasks[&lease(0)].handler.is_finished());
        assert_eq!(held.give_up().len(), 1, "the other was lost");
    }
}
