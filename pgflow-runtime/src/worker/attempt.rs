//! An attempt while it runs: however it ends, the worker is told once.

use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use pgflow_machine::{Lease, Verdict};
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::AbortHandle;
use tracing::Instrument;

use super::Pulse;
use super::handler::Ended;
use super::home::Home;
use super::verdict::panicked;

/// The end of an attempt.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) lease: Lease,
    pub(super) ended: Ended,
    pub(super) took: Duration,
}

/// Where attempts run, and where their ends are told.
#[derive(Debug)]
pub(super) struct Attempts {
    pub(super) home: Home,
    pub(super) done: UnboundedSender<Done>,
}

impl Attempts {
    /// Runs an attempt on its own. However it ends, even by being aborted, its end is told once.
    pub(super) fn spawn(
        &self,
        lease: Lease,
        pulse: Pulse,
        run: impl Future<Output = Ended> + Send + 'static,
        span: tracing::Span,
    ) -> AbortHandle {
        let guard = DoneGuard::new(self.done.clone(), lease);
        let run = async move {
            // Everything that the handler had is dropped inside as well.
            let run = AssertUnwindSafe(run).catch_unwind();
            let ended = pulse.watch(run).await;
            guard.end(ended.unwrap_or_else(|panic| Ended::Verdict(panicked(panic))));
        };
        self.home.spawn(run.instrument(span))
    }
}

/// A drop guard: tells the end of an attempt.
struct DoneGuard {
    to: UnboundedSender<Done>,
    done: Option<(Lease, Ended)>,
    since: Instant,
}

impl DoneGuard {
    fn new(to: UnboundedSender<Done>, lease: Lease) -> Self {
        // Until there is something better to say. A task that is dropped was aborted, and its result is not wanted, or
        // its runtime has ended, and others have to do it.
        let ended = Ended::Verdict(Verdict::Released);
        Self { to, done: Some((lease, ended)), since: Instant::now() }
    }

    fn end(mut self, ended: Ended) {
        if let Some((_, vanished)) = &mut self.done {
            *vanished = ended;
        }
    }
}

impl Drop for DoneGuard {
    fn drop(&mut self) {
        if let Some((lease, ended)) = self.done.take() {
            // After a shutdown the receiver is gone.
            let _ = self.to.send(Done { lease, ended, took: self.since.elapsed() });
        }
    }
}

#[cfg(test)]
mod tests {
    use pgflow_machine::{RunId, TaskKey, TaskLease};

    use super::*;

    #[test]
    fn an_attempt_that_vanishes_is_given_back() {
        let task = TaskKey { run: RunId::from_key("flow", "run"), step: "step".into(), index: 0 };
        let (to, mut done) = tokio::sync::mpsc::unbounded_channel();
        drop(DoneGuard::new(to, TaskLease { task, attempt: 1 }.into()));
        let ended = done.try_recv().map(|done| done.ended);
        assert!(matches!(ended, Ok(Ended::Verdict(Verdict::Released))), "{ended:?}");
    }
}
