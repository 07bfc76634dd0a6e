//! The end of a process that does not end by itself.

use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::home::Home;
use super::report::WorkerReport;

/// How long a program may take to end after its worker has.
const PATIENCE: Duration = Duration::from_secs(3);
/// How often it is looked whether it has.
const LOOK: Duration = Duration::from_millis(100);
/// After so many signals the process ends at once.
const IMPATIENT: u32 = 3;

/// Exits the process if it was asked to end, and does not.
#[derive(Clone, Debug)]
pub(super) struct Exit {
    goes_on: Arc<AtomicBool>,
    home: Home,
}

impl Exit {
    pub(super) fn new(home: Home) -> Self {
        Self { goes_on: Arc::default(), home }
    }

    /// The worker's report has reached the program.
    pub(super) fn program_goes_on(&self) {
        self.goes_on.store(true, Ordering::Release);
    }

    /// The worker has ended after a signal. Handlers that block their threads may keep the program from hearing of it, and
    /// its runtime from ending: that is not waited for for long. A second signal ends the process, whenever it comes.
    pub(super) fn watch_the_end(self, report: WorkerReport, signals: watch::Receiver<u32>) {
        let watch = move || {
            let (ended, before) = (Instant::now(), *signals.borrow());
            let mut waits_since = None;
            loop {
                sleep(LOOK);
                let seen = *signals.borrow();
                let is_asked_again = seen >= 2 && seen > before;
                if self.home.waits_for_handlers() {
                    waits_since.get_or_insert_with(Instant::now);
                }
                let is_stuck = seen >= 2 || !self.goes_on.load(Ordering::Acquire);
                let stuck_since = if is_stuck { Some(ended) } else { waits_since };
                let is_late = stuck_since.is_some_and(|since| since.elapsed() >= PATIENCE);
                if is_asked_again || is_late {
                    tracing::warn!(%report, "the program was told to end, and does not: exiting");
                    exit(i32::from(!report.is_clean()));
                }
            }
        };
        if let Err(error) = Builder::new().name("pgflow-exit".to_owned()).spawn(watch) {
            tracing::warn!(%error, "no thread watches whether the program ends");
        }
    }
}

/// Exits the process if it was asked to end often enough.
pub(super) fn if_impatient(signals: u32) {
    if signals >= IMPATIENT {
        tracing::error!("exiting at once: tasks that run wait for the end of their lease");
        exit(1);
    }
}
