//! Claims and what comes of them.

use pgflow_machine::{Settle, Settled, Verdict};
use tokio::time::Instant;

use super::attempt::Attempt;
use super::engine::Engine;
use super::held::Holding;
use super::metrics::{self, gauged};
use super::trip::Returned;
use super::trouble;
use crate::backend::{BackendError, Claim, ClaimedTask, Work};
use crate::cancel::Cancel;
use crate::{Served, StepDef};

impl Engine {
    /// A claim for as much as can start at once.
    pub(super) fn claim(&mut self, now: Instant) -> Option<Claim> {
        let max = u32::try_from(self.slots.free()).unwrap_or(u32::MAX);
        if max == 0 || !self.stage.is_working() || self.queues.is_empty() {
            return None;
        }
        let is_due = self.pace.due() <= now || !self.settles.is_empty();
        is_due.then(|| {
            self.pace.sent(now);
            let (queues, quotas) = (self.queues.clone(), self.slots.quotas());
            Claim { queues, max, worker: self.id, quotas }
        })
    }

    /// A trip is over.
    pub(super) fn returned(&mut self, returned: Returned) {
        (self.in_flight, self.is_asking) = (0, false);
        let kind = returned.kind();
        Self::requeued(returned.swept.unwrap_or_default());
        if let Some(unknown) = returned.unknown {
            self.asked(unknown);
        }
        let Some(kind) = kind else { return };
        ::metrics::histogram!(metrics::TRIP_SECONDS, "kind" => kind).record(returned.took);
        match returned.work {
            Ok(work) => {
                self.heard();
                self.settles.answered(returned.settles.len());
                self.worked(returned.claim.as_ref(), &returned.settles, work);
            }
            Err(error) => {
                if returned.claim.is_some() {
                    self.lost_claim.lost(Instant::now());
                }
                self.failed(kind, returned.settles, &error);
            }
        }
    }

    fn worked(&mut self, claim: Option<&Claim>, settles: &[Settle], work: Work) {
        if !settles.is_empty() {
            ::metrics::histogram!(metrics::BATCH).record(gauged(settles.len()));
        }
        for (settle, outcome) in settles.iter().zip(work.settled) {
            self.recorded(settle, outcome);
        }
        let now = Instant::now();
        if let Some(claim) = claim {
            ::metrics::counter!(metrics::CLAIMS).increment(1);
            let got = work.claimed.tasks.len();
            self.pace.answered(now, claim.max, got, work.claimed.next_in);
            self.health.set(|health| {
                health.last_claim = Some(now.into_std());
                health.last_error = None;
            });
        }
        work.claimed.tasks.into_iter().for_each(|task| self.begin(task));
    }

    fn recorded(&mut self, settle: &Settle, outcome: Settled) {
        let word = match outcome {
            Settled::Applied => "applied",
            Settled::AlreadySettled => "already_settled",
            Settled::Fenced => "fenced",
            Settled::RunEnded => "run_ended",
            Settled::Unknown => "unknown",
        };
        ::metrics::counter!(metrics::SETTLES, "outcome" => word).increment(1);
        self.report.count(&settle.verdict, outcome);
    }

    /// Nobody knows whether the results were recorded, or they were refused.
    fn failed(&mut self, doing: &'static str, settles: Vec<Settle>, error: &BackendError) {
        let (now, text) = (Instant::now(), trouble::text(error));
        let is_refused = !error.is_temporary() && !settles.is_empty();
        if is_refused {
            tracing::error!(error = text, "the database refused results");
            self.settles.answered(settles.len());
            self.report.lost += u64::from(self.settles.refused(settles, &text).is_some());
        } else {
            self.settles.again(settles);
            let delay = self.trouble.failed(doing, error);
            self.pace.failed(now, delay);
        }
        self.health.set(|health| health.last_error = Some((now.into_std(), text)));
    }

    /// Starts a handler.
    fn begin(&mut self, task: ClaimedTask) {
        let served = self.desk.served(&task.flow);
        let step = served.and_then(|served| served.step(&task.lease.task.step));
        let Some((served, step)) = served.zip(step) else {
            return self.no_code(task);
        };
        if self.stage.is_releasing() {
            // It was claimed before the shutdown, and nobody would wait for its handler.
            return self.settles.push(Settle { lease: task.lease, verdict: Verdict::Released });
        }
        let flow = served.flow().slug;
        ::metrics::counter!(metrics::CLAIMED, "flow" => flow).increment(1);
        let (slot, cancel) = (self.slots.take(flow, step), Cancel::default());
        let (lease, timeout) = (task.lease.clone(), task.timeout);
        let handler = self.spawn(served, step, task, cancel.clone());
        self.held.insert(lease, Holding::new((flow, step), slot, cancel, handler, timeout));
        self.health.running(self.held.len());
    }

    fn spawn(
        &self,
        served: Served,
        step: &'static StepDef,
        task: ClaimedTask,
        cancel: Cancel,
    ) -> tokio::task::AbortHandle {
        Attempt { served, step, task, cancel }.spawn(&self.desk)
    }

    /// The shape was compared at the start, so the flow was replaced behind our back.
    fn no_code(&mut self, task: ClaimedTask) {
        let error = format!(
            "this worker has no code for step `{}` of `{}`",
            task.lease.task.step, task.flow
        );
        tracing::error!(error);
        let verdict = Verdict::Failed { error, retry: pgflow_machine::Retry::ByPolicy };
        self.settles.push(Settle { lease: task.lease, verdict });
    }
}
