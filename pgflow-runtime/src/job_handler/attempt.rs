//! One attempt at one job, from its claim to its verdict.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use pgflow_machine::Verdict;
use pgflow_machine::job::{JobEnd, JobRetry, JobVerdict};
use pgflow_model::with_causes;

use super::kinds::Code;
use crate::backend::ClaimedJob;
use crate::job::{Ending, JobContext, JobTask};
use crate::worker::{Ended, Signals, panic_text, tidy};
use crate::{Error, Retry, States};

/// The longest pause between two attempts.
const LONGEST_DELAY: Duration = Duration::from_hours(24);

/// An attempt that is about to run.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) code: Arc<Code>,
    pub(super) job: ClaimedJob,
    pub(super) states: States,
    pub(super) signals: Signals,
}

impl Attempt {
    pub(super) async fn run(self) -> Ended {
        let Self { code, job, states, signals } = self;
        let row = &job.taken.row;
        let id = job.taken.hold.job.clone();
        let context = JobContext::new(id, row.need.as_str(), row.attempts, signals.cancel.clone());
        // An error is read and dropped inside as well: its code is the application's.
        let call = async {
            match call(&code, &context, job.payload, states).await {
                Ok(ending) => (verdict(ending), context.take_forks()),
                Err(error) => (failed(&error, &code, row.failures), Vec::new()),
            }
        };
        signals.pulse.begin();
        let (verdict, submits) = match AssertUnwindSafe(call).catch_unwind().await {
            Ok(ended) => ended,
            Err(panic) => {
                let retry = JobRetry::After(back_off(code.base_delay(), row.failures));
                let error = tidy(&panic_text(panic));
                (JobVerdict::Failed { error, retry }, Vec::new())
            }
        };
        if let JobVerdict::Failed { error, retry } = &verdict {
            let is_final = *retry == JobRetry::Never;
            tracing::warn!(error, is_final, "attempt failed");
        }
        Ended::Verdict(Verdict::Job(Box::new(JobEnd { verdict, submits })))
    }
}

async fn call(
    code: &Code,
    context: &JobContext,
    payload: serde_json::Value,
    states: States,
) -> Result<Ending, Error> {
    match code {
        Code::Typed(def) => {
            let task = JobTask::new(context.clone(), payload).with_states(states);
            (def.call)(&task)?.await
        }
        Code::Raw(raw) => raw(payload, context.clone()).await,
    }
}

fn verdict(ending: Ending) -> JobVerdict {
    match ending {
        Ending::Done(output) => JobVerdict::Finished(output),
        Ending::HandedOver(to) => JobVerdict::HandedOver(to),
    }
}

fn failed(error: &Error, code: &Code, failures: u32) -> JobVerdict {
    let retry = match error.retry() {
        Retry::Later => JobRetry::After(back_off(code.base_delay(), failures)),
        Retry::After(delay) => JobRetry::After(delay),
        Retry::Never | Retry::Skip => JobRetry::Never,
    };
    JobVerdict::Failed { error: tidy(&with_causes(error.as_source())), retry }
}

/// Twice as long each time.
fn back_off(base: u32, failures: u32) -> Duration {
    let factor = 2_u32.checked_pow(failures).unwrap_or(u32::MAX);
    Duration::from_secs(base.into()).saturating_mul(factor).min(LONGEST_DELAY)
}
