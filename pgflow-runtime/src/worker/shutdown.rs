//! How a worker stops: first politely, then firmly.

use std::time::Duration;

use pgflow_machine::Verdict;
use pgflow_machine::job::JobVerdict;
use tokio::time::{Instant, timeout};

use super::engine::Engine;
use super::health::Phase;
use super::running::TIDY_UP;
use pgflow_backend::backoff::after;

/// How long the last results may take to be recorded when the database does not answer. With the default grace
/// period and a second for handlers that do not end, this is less than the 30 s that Kubernetes gives.
const LAST_TRIPS: Duration = Duration::from_secs(7);

/// How long saying goodbye may take.
const GOODBYE: Duration = Duration::from_secs(1);

/// What a worker is up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It takes tasks.
    Working,
    /// It takes partial batches, as long as there are any, and waits for what it has, until then.
    Flushing(Instant),
    /// It waits for the tasks it has, until then.
    Draining(Instant),
    /// Handlers were told to stop, and are aborted then.
    Stopping(Instant),
    /// Everything was aborted; results are brought home until then.
    Releasing(Instant),
}

impl Stage {
    pub(super) fn is_working(&self) -> bool {
        matches!(self, Self::Working)
    }

    /// Whether it takes work.
    pub(super) fn may_claim(&self) -> bool {
        matches!(self, Self::Working | Self::Flushing(_))
    }

    pub(super) fn is_flushing(&self) -> bool {
        matches!(self, Self::Flushing(_))
    }

    pub(super) fn is_releasing(&self) -> bool {
        matches!(self, Self::Releasing(_))
    }

    /// When it ends by itself.
    pub(super) fn due(&self) -> Option<Instant> {
        match self {
            Self::Working => None,
            Self::Flushing(until)
            | Self::Draining(until)
            | Self::Stopping(until)
            | Self::Releasing(until) => Some(*until),
        }
    }

    /// A handler that fails because it was told to stop has not failed.
    pub(super) fn judge(&self, verdict: Verdict, was_told: bool) -> Verdict {
        if !was_told || !matches!(self, Self::Stopping(_)) {
            return verdict;
        }
        let has_failed = |verdict: &JobVerdict| matches!(verdict, JobVerdict::Failed { .. });
        match verdict {
            Verdict::Failed { .. } => Verdict::Released,
            Verdict::Job(end) if has_failed(&end.verdict) => Verdict::Released,
            Verdict::Messages(mut ends) => {
                for end in ends.iter_mut().filter(|end| has_failed(&end.verdict)) {
                    *end = JobVerdict::Released.into();
                }
                Verdict::Messages(ends)
            }
            verdict => verdict,
        }
    }
}

impl Engine {
    /// No more claims; handlers have until the end of the grace period.
    pub(super) fn drain(&mut self) {
        tracing::info!(running = self.running.len(), "shutting down: no more tasks are taken");
        self.health.phase(Phase::Draining);
        self.release_ahead();
        let until = after(Instant::now(), self.grace);
        let flushes = !self.handlers.last_wants().is_empty();
        self.stage = if flushes { Stage::Flushing(until) } else { Stage::Draining(until) };
        if flushes {
            self.pace.hint(Instant::now());
        }
    }

    /// Everything is given back at once.
    pub(super) fn stop_at_once(&mut self) {
        self.release(Instant::now());
    }

    /// Goes on to the next stage when this one is over.
    pub(super) fn advance(&mut self, now: Instant) {
        match self.stage {
            // No handler is left to wait for.
            Stage::Draining(_) | Stage::Stopping(_) if self.running.is_empty() => self.release(now),
            Stage::Draining(until) | Stage::Flushing(until) if until <= now => {
                tracing::warn!(
                    running = self.running.len(),
                    "out of time: telling handlers to stop"
                );
                self.running.cancel_all();
                self.stage = Stage::Stopping(now + TIDY_UP);
            }
            Stage::Stopping(until) if until <= now => self.release(now),
            _ => {}
        }
    }

    fn release(&mut self, now: Instant) {
        self.health.phase(Phase::Releasing);
        self.release_ahead();
        for settle in self.running.give_up() {
            self.settles.push(settle);
        }
        self.stage = Stage::Releasing(now + LAST_TRIPS);
    }

    /// Whether nothing is left but perhaps a claim whose answer got lost.
    pub(super) fn is_leaving(&self) -> bool {
        let is_idle = self.running.is_empty() && self.ahead.is_empty();
        !self.stage.may_claim() && is_idle && self.settles.is_empty()
    }

    /// The last chance to give back what a lost claim took.
    fn ask_for_the_last_time(&mut self, trip_is_out: bool) {
        let may_bring_tasks = trip_is_out && !self.is_asking;
        if self.lost_claim.is_over() || !self.is_leaving() || may_bring_tasks {
            return;
        }
        self.lost_claim.hurry(Instant::now());
    }

    /// Tells the database, if it listens.
    pub(super) async fn sign_off(&self) {
        if !self.trouble.is_on() {
            // Nothing depends on it.
            _ = timeout(GOODBYE, self.backend.sign_off(self.id)).await;
        }
    }

    /// Whether there is nothing left to do, or no time left to do it.
    pub(super) fn is_over(&mut self, trip_is_out: bool) -> bool {
        self.advance(Instant::now());
        self.ask_for_the_last_time(trip_is_out);
        let is_done = self.is_leaving() && self.lost_claim.is_over() && !trip_is_out;
        let is_late = matches!(self.stage, Stage::Releasing(until) if until <= Instant::now());
        if self.stage.may_claim() || !(is_done || is_late) {
            return false;
        }
        self.report.lost += (self.settles.len() + self.in_flight) as u64;
        self.report.lost += u64::from(self.lost_claim.is_unanswered());
        true
    }
}
