//! One attempt at one task, from the claim to its verdict.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use pgflow_machine::{Lease, Limits, Retry, Settled, Verdict};
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::AbortHandle;
use tracing::Instrument;

use super::desk::Desk;
use super::{span, task_input, transaction, verdict};
use crate::backend::ClaimedTask;
use crate::cancel::Cancel;
use crate::{Error, Served, StepDef, Task};

/// The end of an attempt.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) lease: Lease,
    pub(super) ended: Ended,
    pub(super) took: Duration,
}

/// How an attempt ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// To be recorded.
    Verdict(Verdict),
    /// Recorded already, in the transaction of the step.
    Recorded(Settled),
    /// The lease was gone before it began, or the task is unknown by now.
    Nothing,
}

/// An attempt that is about to run.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) served: Served,
    pub(crate) step: &'static StepDef,
    pub(crate) task: ClaimedTask,
    pub(crate) cancel: Cancel,
}

impl Attempt {
    /// Runs on its own. However it ends, even by being aborted, `desk.done` is told once.
    pub(super) fn spawn(self, desk: &Arc<Desk>) -> AbortHandle {
        let slip = Slip::new(desk.done.clone(), self.task.lease.clone());
        let (desk, span) = (desk.clone(), span::attempt(&self));
        let run = async move {
            // Everything that the handler had is dropped inside as well.
            let ended = AssertUnwindSafe(self.run(&desk)).catch_unwind().await;
            slip.fill(ended.unwrap_or_else(|panic| Ended::Verdict(verdict::panicked(panic))));
        };
        tokio::spawn(run.instrument(span)).abort_handle()
    }

    async fn run(self, desk: &Desk) -> Ended {
        let task = match task_input::task(&self, desk).await {
            Ok(task) => task,
            Err(error) => {
                tracing::warn!(error = %error, "cannot read the run's input: giving the task back");
                return Ended::Verdict(Verdict::Released);
            }
        };
        let ended = if self.step.takes_tx {
            transaction::run(&self, desk, task).await
        } else {
            Ended::Verdict(self.verdict(&desk.limits, task).await)
        };
        if let Ended::Verdict(Verdict::Failed { error, retry }) = &ended {
            let is_final = *retry == Retry::Never;
            tracing::warn!(error, is_final, "attempt failed");
        }
        ended
    }

    /// Calls the handler.
    pub(crate) async fn verdict(&self, limits: &Limits, task: Task) -> Verdict {
        // An error is read and dropped inside as well: its code is the application's.
        let call = async {
            match task.run(self.step).await {
                Ok(output) => verdict::completed(output, self.served.flow(), self.step, limits),
                Err(error) => verdict::failed(&error, self.step),
            }
        };
        let call = AssertUnwindSafe(call).catch_unwind();
        match tokio::time::timeout(self.task.timeout, call).await {
            Ok(Ok(verdict)) => verdict,
            Ok(Err(panic)) => verdict::panicked(panic),
            Err(_) => {
                // What the handler spawned is told as well.
                self.cancel.set();
                verdict::timed_out(self.task.timeout)
            }
        }
    }
}

/// A verdict on something that went wrong around the handler.
pub(super) fn failure(error: &Error, step: &StepDef) -> Ended {
    Ended::Verdict(verdict::failed(error, step))
}

/// Reports the end of an attempt when it is dropped.
struct Slip {
    to: UnboundedSender<Done>,
    done: Option<(Lease, Ended)>,
    since: Instant,
}

impl Slip {
    fn new(to: UnboundedSender<Done>, lease: Lease) -> Self {
        // Until there is something better to say. Of a handler that was aborted nobody wants to know it.
        let ended = Ended::Verdict(verdict::vanished());
        Self { to, done: Some((lease, ended)), since: Instant::now() }
    }

    fn fill(mut self, ended: Ended) {
        if let Some((_, vanished)) = &mut self.done {
            *vanished = ended;
        }
    }
}

impl Drop for Slip {
    fn drop(&mut self) {
        if let Some((lease, ended)) = self.done.take() {
            // Nobody listens any more after a shutdown.
            let _ = self.to.send(Done { lease, ended, took: self.since.elapsed() });
        }
    }
}

#[cfg(test)]
mod tests {
    use pgflow_machine::{RunId, TaskKey};

    use super::*;

    #[test]
    fn an_attempt_that_vanishes_has_failed() {
        let task = TaskKey { run: RunId::from_key("flow", "run"), step: "step".into(), index: 0 };
        let (to, mut done) = tokio::sync::mpsc::unbounded_channel();
        drop(Slip::new(to, Lease { task, attempt: 1 }));
        let ended = done.try_recv().map(|done| done.ended);
        assert!(
            matches!(&ended, Ok(Ended::Verdict(Verdict::Failed { error, .. })) if error.contains("without a result")),
            "{ended:?}"
        );
    }
}
