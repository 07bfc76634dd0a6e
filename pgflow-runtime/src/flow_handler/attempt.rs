//! One attempt at one task, from its claim to its verdict.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use pgflow_machine::log::End;
use pgflow_machine::wait::HookToken;
use pgflow_machine::{Limits, Retry, TaskLease, Until, Verdict};
use pgflow_model::with_causes;

use super::excuses::held_up;
use super::shared::Shared;
use super::{task_input, transaction, verdict, waiting};
use crate::backend::{Backend, BackendError, ClaimedTask, Reply};
use crate::calls;
use crate::emit::Outlet;
use crate::task::StepEnd;
use crate::worker::excuses::Excuse;
use crate::worker::{Ended, Signals, panicked, tidy};
use crate::{DataError, Error, Served, StepDef, Task, Waits};

/// An attempt that is about to run.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) served: Served,
    pub(crate) step: &'static StepDef,
    pub(crate) task: ClaimedTask,
    pub(crate) signals: Signals,
}

impl Attempt {
    pub(super) async fn run(self, shared: &Shared) -> Ended {
        let task = match task_input::task(&self, shared).await {
            Ok(task) => task,
            Err(error) => return held_up(shared, "read", &with_causes(&error)),
        };
        let task = match self.with_hook(task, &shared.backend).await {
            Ok(Some(task)) => task,
            Ok(None) => return Ended::Nothing,
            Err(error) => return held_up(shared, "announce", &with_causes(&error)),
        };
        let (task, outlet) = self.with_outlet(task, &shared.backend, shared.limits);
        let ended = if self.step.takes_tx {
            transaction::run(&self, shared, task).await
        } else {
            let verdict = self.verdict(&shared.limits, task).await;
            Ended::Verdict(finish(outlet, verdict).await)
        };
        if let Ended::Verdict(Verdict::Failed { error, retry }) = &ended {
            let is_final = *retry == Retry::Never;
            tracing::warn!(error, is_final, "attempt failed");
        }
        ended
    }

    /// With the token of its hook, if it takes one; nothing if the lease is gone.
    ///
    /// It is there before the function is called, which may send it to somebody who is faster than the attempt.
    pub(crate) async fn with_hook(
        &self,
        task: Task,
        backend: &Arc<dyn Backend>,
    ) -> Result<Option<Task>, BackendError> {
        let Some(Waits { takes_hook: true }) = self.step.waits else { return Ok(Some(task)) };
        let lease = self.task.lease.clone();
        let announced = calls::apart(backend, move |backend| announce(backend, lease)).await?;
        Ok(announced.into_iter().next().flatten().map(|token| task.with_hook(token)))
    }

    /// With what its stream is written to, if it has one.
    pub(crate) fn with_outlet(
        &self,
        task: Task,
        backend: &Arc<dyn Backend>,
        limits: Limits,
    ) -> (Task, Option<Outlet>) {
        if !self.step.has_stream {
            return (task, None);
        }
        let outlet = Outlet::new(Arc::clone(backend), &self.task.lease, limits);
        (task.with_outlet(outlet.clone()), Some(outlet))
    }

    /// Calls the handler.
    pub(crate) async fn verdict(&self, limits: &Limits, task: Task) -> Verdict {
        self.verdict_of(limits, task, self.task.timeout).await.0
    }

    /// Calls the handler, for so long; also what it says if it fails because the database is in trouble.
    pub(super) async fn verdict_of(
        &self,
        limits: &Limits,
        task: Task,
        within: Duration,
    ) -> (Verdict, Option<Excuse>) {
        // An error is read and dropped inside as well: its code is the application's.
        let call = async {
            let output = match (self.step.call)(&task) {
                Ok(call) => call.await,
                // What is stored cannot be read as the code wants it: the function was not called.
                Err(error) => match error.as_source().downcast_ref::<DataError>() {
                    Some(why) => return (unreadable(why, self.task.lease.attempt), None),
                    None => Err(error),
                },
            };
            match output {
                Ok(StepEnd::Output(output)) => {
                    (verdict::completed(output, self.served.flow(), self.step, limits), None)
                }
                Ok(StepEnd::Waits(wait)) => (waiting::verdict(*wait, self.step, limits), None),
                Err(error) => (verdict::failed(&error, self.step), Excuse::of_handler(&error)),
            }
        };
        self.signals.pulse.begin();
        let call = AssertUnwindSafe(call).catch_unwind();
        match tokio::time::timeout(within, call).await {
            Ok(Ok(verdict)) => verdict,
            Ok(Err(panic)) => (panicked(panic), None),
            Err(_) => {
                // What the handler spawned is told as well.
                self.signals.cancel.set();
                (verdict::timed_out(within, self.task.timeout), None)
            }
        }
    }
}

fn announce(backend: &dyn Backend, lease: TaskLease) -> Reply<'_, Vec<Option<HookToken>>> {
    Box::pin(async move { backend.waits()?.announce(&[lease]).await })
}

/// Ends the stream of an attempt as the attempt ended: it is not completed before all that it said is written.
pub(crate) async fn finish(outlet: Option<Outlet>, verdict: Verdict) -> Verdict {
    let Some(outlet) = outlet else { return verdict };
    let end = match &verdict {
        Verdict::Completed(_) | Verdict::Yielded { until: Until::Met(_), .. } => End::Eof,
        Verdict::Failed { error, .. } => End::error(error),
        // Another attempt begins anew.
        Verdict::Released | Verdict::Yielded { .. } | Verdict::Job(_) | Verdict::Messages(_) => {
            return verdict;
        }
    };
    let is_done = matches!(verdict, Verdict::Completed(_));
    match (outlet.finish(end, is_done).await, verdict) {
        (Err(error), Verdict::Completed(_) | Verdict::Yielded { .. }) => {
            let error = tidy(&with_causes(&error));
            Verdict::Failed { error, retry: Retry::ByPolicy }
        }
        (_, verdict) => verdict,
    }
}

/// Another program may read what this one cannot.
fn unreadable(why: &DataError, attempt: u32) -> Verdict {
    let verdict = verdict::unreadable(why, attempt);
    if let Verdict::Yielded { until: Until::After(delay), reason } = &verdict {
        let seconds = delay.as_secs();
        tracing::warn!(reason, seconds, "holding the task back: another program may read this");
    }
    verdict
}

/// A verdict on something that went wrong around the handler.
pub(super) fn failure(error: &Error, step: &StepDef) -> Ended {
    Ended::Verdict(verdict::failed(error, step))
}
