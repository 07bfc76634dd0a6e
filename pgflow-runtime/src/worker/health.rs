//! How a worker is doing, for probes and dashboards.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// How a worker is doing: taken from [`Worker::health`](super::Worker::health) before it runs.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// # let db = pgflow::Db::connect("memory:").await?;
/// # db.register(count::Flow).await?;
/// use pgflow::{Worker, worker::Phase};
///
/// let worker = Worker::new(&db).flow(count::Flow);
/// let health: pgflow::worker::Health = worker.health();
/// worker.run(std::future::ready(())).await?;
/// assert_eq!(health.snapshot().phase, Phase::Stopped);
/// # Ok(()) })
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Health(Arc<Mutex<HealthSnapshot>>);

/// How a worker was doing at one moment.
///
/// ```
/// let now: pgflow::worker::HealthSnapshot = pgflow::worker::Health::default().snapshot();
/// assert_eq!((now.running, now.last_error), (0, None));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HealthSnapshot {
    /// What it is up to.
    pub phase: Phase,
    /// Handlers that run.
    pub running: usize,
    /// Since when no handler runs, if none does.
    pub idle_since: Option<Instant>,
    /// When the database last answered a claim.
    pub last_claim: Option<Instant>,
    /// The last error of the database, and when it was; gone once it answers again.
    pub last_error: Option<(Instant, String)>,
}

/// What a worker is up to.
///
/// ```
/// assert_eq!(pgflow::worker::Phase::default(), pgflow::worker::Phase::Starting);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// It has not begun.
    #[default]
    Starting,
    /// It takes tasks.
    Working,
    /// It takes no more tasks, and waits for those it has.
    Draining,
    /// It gives back what it has.
    Releasing,
    /// It has ended.
    Stopped,
}

impl Health {
    /// How it is doing now.
    ///
    /// ```
    /// let health = pgflow::worker::Health::default();
    /// assert_eq!(health.snapshot().running, 0);
    /// ```
    pub fn snapshot(&self) -> HealthSnapshot {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set(&self, change: impl FnOnce(&mut HealthSnapshot)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// However a worker ends, and be it that it is dropped, it is said to have stopped.
    pub(super) fn until_dropped(&self) -> Ending {
        Ending(self.clone())
    }

    pub(super) fn phase(&self, phase: Phase) {
        self.set(|health| health.phase = phase);
    }

    pub(super) fn running(&self, running: usize) {
        metrics::gauge!(super::metrics::RUNNING).set(super::metrics::gauged(running));
        self.set(|health| {
            health.running = running;
            health.idle_since = match running {
                0 => health.idle_since.or_else(|| Some(Instant::now())),
                _ => None,
            };
        });
    }
}

/// Says that a worker has stopped when it is dropped.
pub(super) struct Ending(Health);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.running(0);
        self.0.phase(Phase::Stopped);
    }
}
