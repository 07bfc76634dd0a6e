//! One attempt at one job, from its claim to its verdict.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use pgflow_machine::job::{JobEnd, JobRetry, JobRow, JobVerdict, LONGEST, NewJob};
use pgflow_machine::permit::{Message, MessageEnd, MessageLease};
use pgflow_machine::{Lease, Verdict};
use pgflow_model::with_causes;

use super::kinds::{Code, Declared};
use super::{JobExcuses, transaction};
use crate::backend::{Backend, ClaimedJob};
use crate::job::{Ending, JobContext};
use crate::tx::TxSlot;
use crate::worker::excuses::Excuse;
use crate::worker::{Ended, Signals, panic_text, tidy};
use crate::{Error, Retry, States};

/// An attempt that is about to run.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) code: Arc<Code>,
    pub(crate) job: ClaimedJob,
    pub(crate) states: States,
    pub(crate) declared: Arc<Declared>,
    pub(crate) signals: Signals,
    pub(crate) backend: Arc<dyn Backend>,
    /// What it is settled with: as a message, if its need holds something.
    pub(crate) lease: Lease,
    pub(crate) excuses: Arc<JobExcuses>,
}

/// How an attempt ended, and what it forks.
pub(super) type Outcome = (JobVerdict, Vec<NewJob>);

impl Attempt {
    pub(super) async fn run(self) -> Ended {
        let ended = if self.code.takes_tx() {
            transaction::run(&self).await
        } else {
            let (verdict, submits) = self.call(None).await;
            end(verdict, submits)
        };
        if let Ended::Verdict(Verdict::Job(end)) = &ended
            && let JobVerdict::Failed { error, retry } = &end.verdict
        {
            let is_final = *retry == JobRetry::Never;
            tracing::warn!(error, is_final, "attempt failed");
        }
        if self.permits().is_some() { as_message(ended) } else { ended }
    }

    /// What it was claimed with, if its need holds something.
    pub(super) fn permits(&self) -> Option<&MessageLease> {
        match &self.lease {
            Lease::Messages(lease) => Some(lease),
            Lease::Job { .. } | Lease::Task(_) => None,
        }
    }

    /// Calls the handler, in this transaction if there is one.
    pub(crate) async fn call(&self, tx: Option<TxSlot>) -> Outcome {
        self.called(tx).await.0
    }

    /// Calls the handler; also what it says if it fails because the database is in trouble.
    pub(super) async fn called(&self, tx: Option<TxSlot>) -> (Outcome, Option<Excuse>) {
        let row = &self.job.taken.row;
        let (id, cancel) = (self.job.taken.hold.job.clone(), self.signals.cancel.clone());
        let context = JobContext::new(id, row.need.as_str(), row.attempts, cancel);
        // An error is read and dropped inside as well: its code is the application's.
        let call = async {
            match self.code.call(&context, self.job.payload.clone(), &self.states, tx).await {
                Ok(ending) => (self.ended(verdict(ending), &context), None),
                Err(error) => {
                    let verdict = failed(&error, self.retry());
                    ((verdict, Vec::new()), Excuse::of_handler(&error))
                }
            }
        };
        self.signals.pulse.begin();
        AssertUnwindSafe(call).catch_unwind().await.unwrap_or_else(|panic| {
            let error = tidy(&panic_text(panic));
            ((JobVerdict::Failed { error, retry: self.retry() }, Vec::new()), None)
        })
    }

    /// How the handler says that it ended, with what it forks: unless no worker would ever take what it hands over.
    fn ended(&self, verdict: JobVerdict, context: &JobContext) -> Outcome {
        if let JobVerdict::HandedOver(to) = &verdict
            && let Err(problem) = self.declared.check(&to.need)
        {
            let error = format!("what comes next cannot be: {problem}");
            return (
                JobVerdict::Failed { error: tidy(&error), retry: JobRetry::Never },
                Vec::new(),
            );
        }
        (verdict, context.take_forks())
    }

    /// Nobody else could write in the meantime.
    pub(super) fn too_long(&self, longest: Duration) -> Outcome {
        self.signals.cancel.set();
        let error = format!("the need kept its transaction for more than {longest:?}");
        (JobVerdict::Failed { error, retry: self.retry() }, Vec::new())
    }

    /// When it is tried again after a failure that says nothing about that.
    pub(crate) fn retry(&self) -> JobRetry {
        let row = &self.job.taken.row;
        // Whoever submitted it may not have known the need: its definition counts then.
        let max_attempts = row.max_attempts.or(self.code.max_attempts());
        if (JobRow { max_attempts, ..row.clone() }).is_out_of_attempts() {
            return JobRetry::Never;
        }
        JobRetry::later(self.code.base_delay(), row.failures)
    }

    /// Who claimed it.
    pub(crate) fn worker(&self) -> &str {
        self.job.taken.row.lease.as_ref().map_or("worker", |lease| lease.worker.as_str())
    }
}

/// The end of a job that was claimed as a message is.
fn as_message(ended: Ended) -> Ended {
    match ended {
        Ended::Verdict(Verdict::Job(end)) => {
            Ended::Verdict(Verdict::Messages(vec![message_end(*end)]))
        }
        ended => ended,
    }
}

/// What a job forks is what a message emits.
pub(super) fn message_end(end: JobEnd) -> MessageEnd {
    let emits = end.submits.into_iter().map(Message::from).collect();
    MessageEnd { emits, ..end.verdict.into() }
}

/// To be recorded.
pub(super) fn end(verdict: JobVerdict, submits: Vec<NewJob>) -> Ended {
    Ended::Verdict(Verdict::Job(Box::new(JobEnd { verdict, submits })))
}

fn verdict(ending: Ending) -> JobVerdict {
    match ending {
        Ending::Done(output) => JobVerdict::Finished(output),
        Ending::HandedOver(to) => JobVerdict::HandedOver(to),
    }
}

fn failed(error: &Error, later: JobRetry) -> JobVerdict {
    let retry = match error.retry() {
        Retry::Later => later,
        Retry::After(_) if later == JobRetry::Never => later,
        Retry::After(delay) => JobRetry::After(delay.min(LONGEST)),
        Retry::Never | Retry::Skip => JobRetry::Never,
    };
    JobVerdict::Failed { error: tidy(&with_causes(error.as_source())), retry }
}
