//! Claims and what comes of them.

use std::time::Duration;

use pgflow_machine::{Lease, Retry, Settle, Settled, Verdict};
use pgflow_model::with_causes;
use tokio::time::Instant;

use super::engine::Engine;
use super::handler::{Prepared, Signals};
use super::metrics::{self, gauged};
use super::running::RunningAttempt;
use super::shutdown::Stage;
use super::trip::Returned;
use super::trouble::Call;
use super::upkeep;
use crate::backend::{BackendError, Claim, ClaimedWork, Settlement};

impl Engine {
    /// A claim for as much as can start at once, now or with results that go anyway.
    pub(super) fn claim(&mut self, now: Instant, with_results: bool) -> Option<Claim> {
        if !self.has_room() || (with_results && !self.settles.may_claim()) {
            return None;
        }
        let free = u32::try_from(self.slots.free()).unwrap_or(u32::MAX);
        let max = free.saturating_add(self.may_fetch());
        let is_due = self.pace.due() <= now || with_results;
        is_due.then(|| {
            self.pace.sent(now);
            let is_last = self.stage.is_flushing();
            let wants = if is_last { self.handlers.last_wants() } else { self.handlers.wants() };
            Claim { wants, max, worker: self.id }
        })
    }

    /// Whether tasks could start, and their results be kept.
    pub(super) fn has_room(&self) -> bool {
        let is_able = self.stage.may_claim() && !self.handlers.is_empty();
        let has_room = self.slots.free() > 0 || self.may_fetch() > 0;
        is_able && has_room && !self.settles.refused.is_full()
    }

    /// How many may be claimed before there is room for them.
    fn may_fetch(&self) -> u32 {
        if self.stage.is_working() { self.handlers.ahead() } else { 0 }
    }

    /// A trip is over.
    pub(super) fn on_return(&mut self, mut returned: Returned) {
        (self.in_flight, self.is_asking) = (0, false);
        let kind = returned.kind();
        upkeep::requeued(returned.swept.unwrap_or_default());
        if let Some(unknown) = returned.unknown.take() {
            self.on_released(unknown);
        }
        let Some(kind) = kind else { return };
        ::metrics::histogram!(metrics::TRIP_SECONDS, "kind" => kind).record(returned.took);
        match std::mem::replace(&mut returned.work, Ok(Settlement::default())) {
            Ok(work) => {
                self.answered(returned.settles.len(), returned.claim.is_some());
                if returned.is_again {
                    self.settles.reconsider();
                }
                self.on_settlement(&returned, work);
            }
            Err(error) => {
                if returned.claim.is_some() {
                    self.lost_claim.lost(Instant::now());
                }
                self.failed(kind, returned, &error);
            }
        }
    }

    fn answered(&mut self, settles: usize, with_claim: bool) {
        if with_claim {
            self.on_answer(Call::Claim);
        }
        if settles > 0 {
            self.on_answer(Call::Settle);
        }
        self.settles.recorded(settles);
    }

    fn on_settlement(&mut self, returned: &Returned, work: Settlement) {
        let Returned { claim, settles, took, .. } = returned;
        if !settles.is_empty() {
            ::metrics::histogram!(metrics::BATCH).record(gauged(settles.len()));
        }
        for (settle, outcome) in settles.iter().zip(work.settled) {
            self.recorded(&settle.lease, &settle.verdict, outcome);
        }
        let now = Instant::now();
        if work.claimed.is_partial {
            self.lost_claim.lost(now);
        }
        if let Some(claim) = claim {
            ::metrics::counter!(metrics::CLAIMS).increment(1);
            let got = work.claimed.len();
            self.pace.answered(now, claim.max, got, work.claimed.next_in);
            if let Stage::Flushing(until) = self.stage
                && got == 0
                && is_last(claim)
                && self.running.is_empty()
                // What these hand over is to be flushed too.
                && self.settles.is_empty()
            {
                self.stage = Stage::Draining(until);
            }
            self.health.set(|health| {
                health.last_claim = Some(now.into_std());
                health.last_error = None;
            });
        }
        let claimed: Vec<_> = work.claimed.into_work().collect();
        self.handlers.claimed(&claimed);
        for work in claimed {
            if is_late(&work, *took) {
                self.return_unused(&work);
            } else if let Some(work) = self.waits(work) {
                self.begin(work);
            }
        }
    }

    /// Gives back what never began: no attempt is used up.
    pub(super) fn return_unused(&mut self, work: &ClaimedWork) {
        self.handlers.forget(work);
        self.settles.push(Settle { lease: work.lease(), verdict: Verdict::Released });
    }

    /// What became of a result.
    pub(super) fn recorded(&mut self, lease: &Lease, verdict: &Verdict, outcome: Settled) {
        self.leases.remove(lease);
        let word = match outcome {
            Settled::Applied => "applied",
            Settled::AlreadySettled => "already_settled",
            Settled::Fenced => "fenced",
            Settled::RunEnded => "run_ended",
            Settled::Unknown => "unknown",
        };
        ::metrics::counter!(metrics::SETTLES, "outcome" => word).increment(1);
        self.report.count(verdict, outcome);
    }

    /// The results may or may not have been recorded, or were refused. Only what lies in a result itself is held
    /// against it; whatever else the database says may pass.
    fn failed(&mut self, doing: &'static str, returned: Returned, error: &BackendError) {
        let (now, text) = (Instant::now(), with_causes(error));
        let Returned { settles, is_again, claim, .. } = returned;
        let (is_batch, with_claim) = (settles.len() > 1, claim.is_some());
        let call = if settles.is_empty() { Call::Claim } else { Call::Settle };
        if error.is_about_payload() && !settles.is_empty() {
            tracing::error!(error = text, "the database cannot store a result");
            self.settles.unstorable(settles, with_claim, &text, now);
        } else if is_again {
            self.settles.refused(settles, false, now);
            self.say_refused(now, &text);
        } else if error.is_temporary() || settles.is_empty() {
            self.settles.unanswered(settles);
            let delay = self.trouble.failed(call, doing, error);
            self.pace.failed(now, delay);
        } else {
            self.settles.refused(settles, with_claim, now);
            if !is_batch && !with_claim {
                self.say_refused(now, &text);
            }
        }
        self.health.set(|health| health.last_error = Some((now.into_std(), text)));
    }

    fn say_refused(&mut self, now: Instant, error: &str) {
        ::metrics::counter!(metrics::DATABASE_ERRORS, "doing" => "settle").increment(1);
        if self.refusals.may_say(now) {
            let refused = &self.settles.refused;
            let (results, is_full) = (refused.len(), refused.is_full());
            let then = if is_full { ", and no more tasks are taken" } else { "" };
            tracing::error!(error, results, "the database refuses results: they wait{then}");
        }
    }

    /// Starts a handler.
    pub(super) fn begin(&mut self, work: ClaimedWork) {
        let (lease, timeout, lasts) = (work.lease(), work.timeout(), work.lasts());
        let signals = Signals::default();
        if self.stage.is_releasing() {
            // It was claimed before the shutdown, which does not wait for new handlers.
            return self.settles.push(Settle { lease, verdict: Verdict::Released });
        }
        let Prepared { label, permit, span, run } = match self.handlers.call(work, signals.clone())
        {
            Ok(call) => call,
            Err(error) => return self.no_code(lease, error),
        };
        ::metrics::counter!(metrics::CLAIMED, "flow" => label.flow).increment(1);
        self.leases.insert(lease.clone(), lasts);
        let handler = self.attempts.spawn(lease.clone(), signals.pulse.clone(), run, span);
        let permits = (self.slots.take(), permit);
        self.running.insert(lease, RunningAttempt::new(label, permits, signals, handler, timeout));
        self.health.running(self.running.len());
    }

    fn no_code(&mut self, lease: Lease, error: String) {
        tracing::error!(error);
        let verdict = Verdict::Failed { error, retry: Retry::ByPolicy };
        self.settles.push(Settle { lease, verdict });
    }
}

/// Whether messages were claimed so long ago that their lease may have lapsed on the way: then others may hold by now what they
/// are to hold, and their function must not begin.
fn is_late(work: &ClaimedWork, took: Duration) -> bool {
    matches!(work, ClaimedWork::Messages(_)) && took >= work.timeout()
}

/// Whether it was for partial batches: one that was under way when the worker was told to stop does not count.
fn is_last(claim: &Claim) -> bool {
    claim.wants.iter().any(|want| want.stage.as_ref().is_some_and(|stage| stage.drains))
}
