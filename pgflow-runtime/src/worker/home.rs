//! Where handlers run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use super::InUse;

/// The application's runtime, and how many handlers of a worker it has. Clones share everything.
#[derive(Clone, Debug)]
pub(super) struct Home {
    runtime: Handle,
    handlers: InUse,
}

impl Home {
    pub(super) fn new(runtime: Handle) -> Self {
        Self { runtime, handlers: InUse::default() }
    }

    pub(super) fn spawn(&self, handler: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        // A handler that is there, running or not.
        let resident = self.handlers.take();
        let handler = async move {
            let _resident = resident;
            handler.await;
        };
        self.runtime.spawn(handler).abort_handle()
    }

    /// Whether the runtime is about to end, and waits for handlers: aborted ones that block their threads.
    pub(super) fn waits_for_handlers(&self) -> bool {
        self.handlers.count() > 0 && self.is_ending()
    }

    /// A runtime that is about to end cancels at once whatever it is given.
    fn is_ending(&self) -> bool {
        let has_run = Arc::new(AtomicBool::new(false));
        let ran = Arc::clone(&has_run);
        let probe = self.runtime.spawn_blocking(move || ran.store(true, Ordering::Release));
        probe.is_finished() && !has_run.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_runtime_that_waits_for_a_handler_is_noticed() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build();
        let runtime = runtime.expect("a runtime");
        let home = Home::new(runtime.handle().clone());
        let (begun, has_begun) = mpsc::channel();
        let (end, ends) = mpsc::channel::<()>();
        let handler = home.spawn(async move {
            begun.send(()).expect("the receiver is there");
            let _ = ends.recv();
        });
        has_begun.recv().expect("it begins");
        assert!(!home.waits_for_handlers(), "the runtime goes on");
        handler.abort();
        let ending = std::thread::spawn(move || drop(runtime));
        let since = Instant::now();
        while !home.waits_for_handlers() {
            assert!(since.elapsed() < Duration::from_mins(1), "it is not noticed");
            std::thread::yield_now();
        }
        drop(end);
        ending.join().expect("the runtime ends");
        assert!(!home.waits_for_handlers(), "no handler is left");
    }
}
