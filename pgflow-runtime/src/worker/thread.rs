//! A thread of the worker's own.
//!
//! Handlers run on the application's runtime, and may block all of its threads. Claims, results and heartbeats go on
//! nevertheless: they have a runtime for themselves, and so have the connections that they use.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use tokio::runtime::{self, Runtime};
use tokio::sync::oneshot;
use tokio::time::Instant;
use tracing::{Instrument, Span, dispatcher};

use super::WorkerError;

/// What connections left behind, such as their way back to their pool, has so long to end.
const TIDY_UP: Duration = Duration::from_secs(1);

/// What comes of some work, or the panic it ended with.
type Outcome<T> = std::thread::Result<T>;

/// Does some work on a thread of its own. The work has to notice by itself that its result is no longer wanted.
pub(super) async fn run<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, WorkerError> {
    let (sender, ended) = oneshot::channel();
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(WorkerError::Thread)?;
    // As if it ran here: what it says goes where it would have gone.
    let (work, log) = (work.instrument(Span::current()), dispatcher::get_default(Clone::clone));
    let body = move || {
        let outcome = dispatcher::with_default(&log, || block_on(&runtime, work));
        drop(runtime);
        // The receiver may be gone.
        let _ = sender.send(outcome);
    };
    let thread = Builder::new().name("pgflow-worker".to_owned()).spawn(body);
    Ok(outcome(ended, thread.map_err(WorkerError::Thread)?).await)
}

fn block_on<T>(runtime: &Runtime, work: impl Future<Output = T>) -> Outcome<T> {
    let outcome = catch_unwind(AssertUnwindSafe(|| runtime.block_on(work)));
    runtime.block_on(async {
        let end = Instant::now() + TIDY_UP;
        while runtime.metrics().num_alive_tasks() > 0 && Instant::now() < end {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    });
    outcome
}

async fn outcome<T>(ended: oneshot::Receiver<Outcome<T>>, thread: JoinHandle<()>) -> T {
    let outcome = ended.await;
    // It has nothing left to do.
    let joined = thread.join();
    match (outcome, joined) {
        (Ok(Ok(value)), _) => value,
        (Ok(Err(panic)), _) | (Err(_), Err(panic)) => resume_unwind(panic),
        (Err(_), Ok(())) => unreachable!("a thread that ends without a panic has sent its outcome"),
    }
}

/// Whether time stands still here, as it does in tests with a paused clock. Then there must be no other runtime: it
/// would have a time of its own.
pub(super) fn is_clock_paused() -> bool {
    let (here, real) = (Instant::now(), std::time::Instant::now());
    while real.elapsed() < Duration::from_micros(10) {
        std::hint::spin_loop();
    }
    Instant::now() == here
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_paused_clock_is_noticed() {
        assert!(is_clock_paused());
        tokio::time::resume();
        assert!(!is_clock_paused());
    }

    #[tokio::test]
    async fn work_goes_on_while_this_thread_is_blocked() {
        let (sender, done) = std::sync::mpsc::channel();
        let work = tokio::spawn(run(async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            sender.send(std::thread::current().name().map(str::to_owned))
        }));
        tokio::task::yield_now().await;
        let name = done.recv_timeout(Duration::from_mins(1)).expect("it works meanwhile");
        assert_eq!(name.as_deref(), Some("pgflow-worker"));
        assert!(matches!(work.await, Ok(Ok(Ok(())))));
    }

    #[tokio::test]
    async fn a_panic_comes_through() {
        let work = tokio::spawn(run(async { panic!("a bug") }));
        assert!(work.await.expect_err("it panicked").is_panic());
    }
}
