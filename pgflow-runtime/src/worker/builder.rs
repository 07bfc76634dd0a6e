//! What a worker is made of.

use std::time::Duration;

use super::engine::Engine;
use super::health::{Health, Phase};
use super::report::WorkerReport;
use super::trip::Underway;
use super::{WorkerError, signals, startup};
use crate::backend::BackendError;
use crate::db::Db;
use crate::{Flow, RegisterError, Registry, States, Step};

/// Runs the steps of flows.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
/// use pgflow::{Db, Worker};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let db = Db::connect("memory:").await?;
/// db.register(count::Flow).await?;
/// let run = db.start(count::Flow, &7).await?;
///
/// let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
/// let worker = Worker::new(&db).flow(count::Flow).concurrency(8).run(async { _ = stopped.await });
/// let client = async {
///     let output = run.output().await;
///     drop(stop);
///     output
/// };
/// let (report, output) = tokio::join!(worker, client);
/// assert_eq!(output?.one, 7);
/// assert!(report?.is_clean());
/// # Ok(()) })
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a worker works while `run` is awaited"]
pub struct Worker {
    pub(super) db: Db,
    pub(super) registry: Result<Registry, RegisterError>,
    pub(super) states: States,
    pub(super) concurrency: Option<usize>,
    pub(super) limits: Vec<Limit>,
    pub(super) grace: Duration,
    pub(super) health: Health,
}

/// A year: no clock shows what comes after `Duration::MAX`.
const LONGEST_GRACE: Duration = Duration::from_hours(365 * 24);

/// How many tasks of a step run at once.
#[derive(Debug)]
pub(super) struct Limit {
    pub(super) flow: &'static str,
    pub(super) step: &'static str,
    pub(super) max: usize,
}

impl Worker {
    /// A worker without flows, for up to 16 tasks at once, with a grace period of 20 seconds. The variable
    /// `PGFLOW_WORKER_CONCURRENCY`, or else `WORKFLOW_POSTGRES_WORKER_CONCURRENCY`, sets another number of tasks.
    pub fn new(db: &Db) -> Self {
        Self {
            db: db.clone(),
            registry: Ok(Registry::default()),
            states: States::default(),
            concurrency: None,
            limits: Vec::new(),
            grace: Duration::from_secs(20),
            health: Health::default(),
        }
    }

    /// With this flow, among others.
    pub fn flow<F: Flow>(self, flow: F) -> Self {
        Self { registry: self.registry.and_then(|registry| registry.with(flow)), ..self }
    }

    /// With this value of application state, for steps that take `State<T>`.
    pub fn state<T: Clone + Send + Sync + 'static>(self, value: T) -> Self {
        Self { states: self.states.with(value), ..self }
    }

    /// With so many tasks at once, whatever the environment says.
    pub fn concurrency(self, tasks: usize) -> Self {
        Self { concurrency: Some(tasks), ..self }
    }

    /// With so many tasks of this step at once, in this process: `.limit::<orders::charge>(4)`.
    pub fn limit<S: Step<Flow: Flow>>(mut self, tasks: usize) -> Self {
        let flow = <S::Flow as Flow>::SLUG;
        self.limits.push(Limit { flow, step: S::SLUG, max: tasks });
        self
    }

    /// With so much time for handlers to end after the worker was asked to stop. Besides this, a shutdown takes
    /// up to a second for handlers that do not, and up to seven if the database does not answer: 28 in all with the
    /// default of 20, within the 30 that Kubernetes gives.
    pub fn grace(self, grace: Duration) -> Self {
        Self { grace: grace.min(LONGEST_GRACE), ..self }
    }

    /// How the worker is doing: can be asked while it runs.
    pub fn health(&self) -> Health {
        self.health.clone()
    }

    /// Works until `shutdown` is ready. Then no more tasks are taken; handlers have the grace period to end;
    /// those that do not are told to stop, aborted a second later, and their tasks given back without using up
    /// an attempt.
    ///
    /// A database that does not answer is waited for, also at the start.
    ///
    /// If this future is dropped, as by `select!`, handlers are told to stop and aborted at once, and their results
    /// are not recorded: their tasks wait for the end of their lease, and then run again. Let `shutdown` be ready instead.
    pub async fn run(
        self,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<WorkerReport, WorkerError> {
        self.run_with(Box::pin(shutdown), Box::pin(std::future::pending())).await
    }

    /// Works until SIGTERM or Ctrl-C. A second signal stops at once: handlers are aborted, and their tasks
    /// given back.
    pub async fn run_until_signal(self) -> Result<WorkerReport, WorkerError> {
        let seen = signals::stop_signals().map_err(WorkerError::Signals)?;
        let (first, second) = (signals::after(seen.clone(), 1), signals::after(seen, 2));
        self.run_with(Box::pin(first), Box::pin(second)).await
    }

    /// Works until `shutdown` is ready, and stops at once when `at_once` is.
    pub async fn run_until(
        self,
        shutdown: impl Future<Output = ()> + Send + 'static,
        at_once: impl Future<Output = ()> + Send + 'static,
    ) -> Result<WorkerReport, WorkerError> {
        self.run_with(Box::pin(shutdown), Box::pin(at_once)).await
    }

    async fn run_with(
        self,
        mut shutdown: Underway<()>,
        at_once: Underway<()>,
    ) -> Result<WorkerReport, WorkerError> {
        let (health, closed) = (self.health.clone(), self.db.closed());
        let _ending = health.until_dropped();
        let engine: Engine = tokio::select! {
            engine = startup::start(self) => engine?,
            () = &mut shutdown => return Ok(WorkerReport::default()),
        };
        health.phase(Phase::Working);
        health.running(0);
        let report = tokio::select! {
            report = engine.run(shutdown, at_once) => report,
            () = closed => return Err(BackendError::Closed.into()),
        };
        tracing::info!(%report, "worker stopped");
        Ok(report)
    }
}
