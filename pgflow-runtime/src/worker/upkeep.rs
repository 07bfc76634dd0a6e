//! What heartbeats and sweeps come back with.

use std::time::Duration;

use pgflow_machine::job::JobVerdict;
use pgflow_machine::{Beat, Lease, Until, Verdict};
use tokio::time::Instant;

use super::engine::Engine;
use super::handler::{Ended, Label};
use super::metrics;
use super::running::{RunningAttempt, Wanted};
use super::trip::Upkeep;
use super::trouble::Call;
use crate::backend::{BackendError, Swept};
use crate::pipeline::word_of;

impl Engine {
    pub(super) fn on_upkeep(&mut self, upkeep: Upkeep) {
        match upkeep {
            Upkeep::Heartbeat(leases, beats) => self.on_heartbeats(&leases, beats),
            Upkeep::Sweep(swept) => self.on_sweep(swept),
            Upkeep::Tick(next_in) => self.on_tick(next_in),
        }
    }

    fn on_heartbeats(&mut self, leases: &[Lease], beats: Result<Vec<Beat>, BackendError>) {
        let now = Instant::now();
        match beats {
            Ok(beats) => {
                self.on_answer(Call::Upkeep);
                for (lease, beat) in leases.iter().zip(beats) {
                    count(beat);
                    match beat {
                        Beat::Extended => continue,
                        // Its key and what it holds are free only when it was settled.
                        Beat::Cancelled if lease.job().is_some() => {
                            self.running.call_off(now, lease);
                        }
                        Beat::Cancelled => {
                            self.running.lose(now, lease, Wanted::End);
                            self.return_ahead(lease);
                        }
                        Beat::Lost => {
                            self.running.lose(now, lease, Wanted::Nothing);
                            self.lose_ahead(lease);
                        }
                    }
                    self.leases.remove(lease);
                }
            }
            Err(error) => {
                let delay = self.trouble.failed(Call::Upkeep, "heartbeat", &error);
                self.leases.unheard(now, delay);
            }
        }
    }

    fn on_sweep(&mut self, swept: Result<Swept, BackendError>) {
        match swept {
            Ok(swept) => {
                self.on_answer(Call::Upkeep);
                requeued(swept);
                if swept.requeued > 0 {
                    self.pace.hint(Instant::now());
                }
            }
            Err(error) => {
                self.trouble.failed(Call::Upkeep, "sweep", &error);
            }
        }
    }

    fn on_tick(&mut self, next_in: Result<Option<Duration>, BackendError>) {
        match next_in {
            Ok(next_in) => {
                self.on_answer(Call::Upkeep);
                self.ticks.on_look(Instant::now(), next_in);
            }
            Err(error) => {
                self.ticks.on_error(&error);
                if !matches!(error, BackendError::Unsupported { .. }) {
                    self.trouble.failed(Call::Upkeep, "schedules", &error);
                }
            }
        }
    }

    /// Whether this worker starts what schedules want: one that is about to stop leaves it to others.
    pub(super) fn may_tick(&self) -> bool {
        self.stage.is_working() && !self.trouble.is_on()
    }

    /// The database answered. If that is news, results go at once, then heartbeats, and only then a sweep: it must not take
    /// away from this worker what it could not speak for.
    pub(super) fn on_answer(&mut self, call: Call) {
        if self.trouble.answered(call) {
            let now = Instant::now();
            self.pace.recovered(now);
            self.leases.unheard(now, Duration::ZERO);
            self.sweeps.put_off(now);
        }
    }

    /// Whether a sweep could take away what this worker has results of.
    pub(super) fn may_sweep(&self) -> bool {
        self.stage.is_working() && !self.trouble.is_on() && !self.settles.are_overdue()
    }
}

/// Says what a sweep did, alone or with a claim.
pub(super) fn requeued(Swept { requeued }: Swept) {
    if requeued > 0 {
        tracing::warn!(requeued, "took back tasks of a worker that is gone");
        ::metrics::counter!(metrics::REQUEUED).increment(requeued);
    }
}

fn count(beat: Beat) {
    let answer = match beat {
        Beat::Extended => "extended",
        Beat::Lost => "lost",
        Beat::Cancelled => "cancelled",
    };
    ::metrics::counter!(metrics::HEARTBEATS, "answer" => answer).increment(1);
}

fn outcome_of_job(verdict: &JobVerdict) -> &'static str {
    match verdict {
        JobVerdict::Finished(_) => "completed",
        JobVerdict::HandedOver(_) => "handed_over",
        JobVerdict::Failed { .. } => "failed",
        JobVerdict::Released => "released",
    }
}

impl RunningAttempt {
    /// Counts the end of an attempt.
    pub(super) fn count(&self, ended: &Ended, took: Duration) {
        let Label { flow, step } = self.label;
        let outcome = match ended {
            Ended::Recorded(_) => "completed",
            _ if self.wanted != Wanted::Result => "dropped",
            Ended::Verdict(Verdict::Completed(_)) => "completed",
            Ended::Verdict(Verdict::Failed { .. }) => "failed",
            Ended::Verdict(Verdict::Released) => "released",
            Ended::Verdict(Verdict::Yielded { until: Until::Met(_), .. }) => "waiting",
            Ended::Verdict(Verdict::Yielded { .. }) => "held_back",
            Ended::Verdict(Verdict::Job(end)) => outcome_of_job(&end.verdict),
            Ended::Verdict(Verdict::Messages(ends)) => word_of(ends),
            Ended::Nothing => "dropped",
        };
        ::metrics::counter!(metrics::ATTEMPTS, "flow" => flow, "step" => step, "outcome" => outcome)
            .increment(1);
        ::metrics::histogram!(metrics::HANDLER_SECONDS, "flow" => flow, "step" => step)
            .record(took);
    }
    /// Counts an attempt that the worker gave up when it stopped.
    pub(super) fn count_given_up(&self) {
        let released = Ended::Verdict(Verdict::Released);
        let ended = if self.wanted == Wanted::Result { released } else { Ended::Nothing };
        self.count(&ended, self.since.elapsed());
    }
}
