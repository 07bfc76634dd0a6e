//! What heartbeats and sweeps come back with.

use std::time::Duration;

use pgflow_machine::{Beat, Lease};
use tokio::time::Instant;

use super::attempt::{Done, Ended};
use super::engine::Engine;
use super::held::Holding;
use super::metrics;
use super::trip::Upkeep;
use crate::backend::{BackendError, Swept};

impl Engine {
    pub(super) fn kept(&mut self, upkeep: Upkeep) {
        match upkeep {
            Upkeep::Heartbeat(leases, beats) => self.beaten(&leases, beats),
            Upkeep::Sweep(swept) => self.swept(swept),
        }
    }

    fn beaten(&mut self, leases: &[Lease], beats: Result<Vec<Beat>, BackendError>) {
        let now = Instant::now();
        match beats {
            Ok(beats) => {
                self.heard();
                for beat in &beats {
                    count(*beat);
                }
                self.held.answered(now, leases, &beats);
            }
            Err(error) => {
                let delay = self.trouble.failed("heartbeat", &error);
                self.held.unheard(now, delay);
            }
        }
    }

    fn swept(&mut self, swept: Result<Swept, BackendError>) {
        match swept {
            Ok(swept) => {
                self.heard();
                Self::requeued(swept);
                if swept.requeued > 0 {
                    self.pace.hint(Instant::now());
                }
            }
            Err(error) => {
                self.trouble.failed("sweep", &error);
            }
        }
    }

    /// The database answered. If that is news, results go at once, then heartbeats, and only then a sweep: it must not take
    /// away from this worker what it could not speak for.
    pub(super) fn heard(&mut self) {
        if self.trouble.over() {
            let now = Instant::now();
            self.pace.recovered(now);
            self.held.unheard(now, Duration::ZERO);
            self.sweeps.put_off(now);
        }
    }

    /// Whether a sweep could take away what this worker has results of.
    pub(super) fn may_sweep(&self) -> bool {
        self.stage.is_working() && !self.trouble.is_on() && !self.settles.are_overdue()
    }

    /// What a sweep did, alone or with a claim.
    pub(super) fn requeued(Swept { requeued }: Swept) {
        if requeued > 0 {
            tracing::warn!(requeued, "took back tasks of a worker that is gone");
            ::metrics::counter!(metrics::REQUEUED).increment(requeued);
        }
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

impl Holding {
    /// Counts the end of an attempt.
    pub(super) fn count(&self, done: &Done) {
        use pgflow_machine::Verdict;
        let (flow, step) = (self.flow, self.step.slug);
        let outcome = match &done.ended {
            _ if self.is_unwanted => "dropped",
            Ended::Verdict(Verdict::Completed(_)) | Ended::Recorded(_) => "completed",
            Ended::Verdict(Verdict::Failed { .. }) => "failed",
            Ended::Verdict(Verdict::Released) => "released",
            Ended::Nothing => "dropped",
        };
        ::metrics::counter!(metrics::ATTEMPTS, "flow" => flow, "step" => step, "outcome" => outcome)
            .increment(1);
        ::metrics::histogram!(metrics::HANDLER_SECONDS, "flow" => flow, "step" => step)
            .record(done.took);
    }
}
