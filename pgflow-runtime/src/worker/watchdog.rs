//! Handlers that block their thread.

use std::time::Duration;

use pgflow_machine::{Lease, Settle, Verdict};
use tokio::time::Instant;

use super::engine::Engine;
use super::handler::Label;
use super::running::{RunningAttempt, Wanted};
use super::{metrics, verdict};

/// How often it is looked.
const EVERY: Duration = Duration::from_millis(500);
/// Code that does not wait for anything for so long keeps others from running.
const BLOCKING: Duration = Duration::from_secs(1);
/// A handler that cannot be aborted has so much more time than its step says, in case it comes to an end.
const LATE: Duration = Duration::from_secs(30);
/// A handler that does not begin in this time has no thread to run on.
const NO_THREAD: Duration = Duration::from_secs(10);

impl Engine {
    /// When to look at handlers.
    pub(super) fn next_look(&self) -> Option<Instant> {
        (!self.running.is_empty()).then(|| self.looked + EVERY)
    }

    /// Names steps that block their thread, and ends what comes to no end because of that.
    pub(super) fn look_at_handlers(&mut self, now: Instant) {
        if self.next_look().is_none_or(|next| next > now) {
            return;
        }
        self.looked = now;
        let (mut late, mut unbegun) = (Vec::new(), Vec::new());
        for (lease, holding) in self.running.iter_mut() {
            holding.name_if_it_blocks();
            if holding.is_late() {
                late.push(lease.clone());
            } else if holding.has_no_thread() {
                unbegun.push(lease.clone());
            }
        }
        for lease in late {
            self.end_late(lease);
        }
        for lease in unbegun {
            self.give_back(lease);
        }
    }

    /// The attempt has failed. Its slot stays taken until the handler returns: the thread is.
    fn end_late(&mut self, lease: Lease) {
        let Some(holding) = self.running.get_mut(&lease) else { return };
        holding.is_settled = true;
        holding.signals.cancel.set();
        holding.handler.abort();
        let verdict = verdict::blocked(holding.timeout);
        self.settles.push(Settle { lease, verdict });
    }

    /// Other workers may have a thread for it.
    fn give_back(&mut self, lease: Lease) {
        let Some(holding) = self.running.remove(&lease) else { return };
        tracing::warn!(
            flow = holding.label.flow,
            step = holding.label.step,
            "no thread is free for a step: giving it back"
        );
        holding.handler.abort();
        holding.count_given_up();
        drop(holding);
        self.health.running(self.running.len());
        self.settles.push(Settle { lease, verdict: Verdict::Released });
    }
}

impl RunningAttempt {
    /// Says once that the handler blocks its thread, or did.
    pub(super) fn name_if_it_blocks(&mut self) {
        let blocked = self.signals.pulse.longest();
        if blocked < BLOCKING || std::mem::replace(&mut self.is_named, true) {
            return;
        }
        let (Label { flow, step }, seconds) = (self.label, blocked.as_secs_f64());
        ::metrics::counter!(metrics::BLOCKED, "flow" => flow, "step" => step).increment(1);
        tracing::warn!(
            flow,
            step,
            seconds,
            "a step blocks its thread, and keeps others from it: use `tokio::task::spawn_blocking`"
        );
    }

    /// Whether its time is long over, and it cannot be aborted.
    fn is_late(&self) -> bool {
        let is_blocked =
            self.signals.pulse.blocked_for().is_some_and(|blocked| blocked >= BLOCKING);
        let ran = self.signals.pulse.running_for().unwrap_or_default();
        let is_open = self.wanted == Wanted::Result && !self.is_settled;
        is_open && is_blocked && ran >= self.timeout.saturating_add(LATE)
    }

    fn has_no_thread(&self) -> bool {
        self.wanted == Wanted::Result
            && !self.signals.pulse.has_begun()
            && self.since.elapsed() >= NO_THREAD
    }
}
