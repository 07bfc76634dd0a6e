//! What a worker is made of.

use std::convert::Infallible;
use std::time::Duration;

use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::engine::Engine;
use super::exit::Exit;
use super::health::{Health, Phase};
use super::home::Home;
use super::report::WorkerReport;
use super::trip::BoxFuture;
use super::{WorkerError, backlog, retention, signals, startup, thread};
use crate::backend::{BackendError, Wakes};
use crate::check::{Lasts, Runs, Shares, WorksFor, WorksOn, WorksThrough};
use crate::db::Db;
use crate::db::environment::{refuse_prefix, variable};
use crate::flow_handler::Flows;
use crate::job::{JobContext, Next};
use crate::job_handler::Kinds;
use crate::pipeline::Pipelines;
use crate::{Flow, Step};

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
    pub(super) flows: Flows,
    pub(super) jobs: Kinds,
    pub(super) pipelines: Pipelines,
    pub(super) concurrency: Option<usize>,
    pub(super) grace: Duration,
    pub(super) health: Health,
    retain: Option<u32>,
    report_backlog: Option<Duration>,
}

/// A year: no clock shows what comes after `Duration::MAX`.
const LONGEST_GRACE: Duration = Duration::from_hours(365 * 24);

#[diagnostic::do_not_recommend]
impl<T: Clone + Send + Sync + 'static> Shares<T> for Worker {
    fn sharing(self, value: T) -> Self {
        Self { flows: self.flows.state(value.clone()), jobs: self.jobs.state(value), ..self }
    }
}

impl Worker {
    /// A worker without flows, for up to 16 tasks at once, with a grace period of 20 seconds. The variable
    /// `PGFLOW_WORKER_CONCURRENCY`, or else `WORKFLOW_POSTGRES_WORKER_CONCURRENCY`, sets another number of tasks.
    #[expect(clippy::needless_pass_by_value, reason = "it may be owned")]
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn new<D>(db: D) -> Self where Self: WorksFor<D> {
        Self::of(<Self as WorksFor<D>>::db(&db).clone())
    }

    fn of(db: Db) -> Self {
        Self {
            db,
            flows: Flows::default(),
            jobs: Kinds::default(),
            pipelines: Pipelines::default(),
            concurrency: None,
            grace: Duration::from_secs(20),
            health: Health::default(),
            retain: None,
            report_backlog: None,
        }
    }

    /// With this flow, among others.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn flow<F>(self, flow: F) -> Self where Self: Runs<F> {
        Self { flows: self.flows.with(<Self as Runs<F>>::given(flow)), ..self }
    }

    /// With this kind of job, among others: with all of its needs but those that are `external`.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[job] mod ping { use super::*; #[need] pub async fn pong(job: u8) -> Result<Next> { Ok(Next::done(job + 1)) } }
    /// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let db = Db::connect("memory:").await?;
    /// let job = db.submit::<ping::pong>(&7).await?;
    /// let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    /// let worker = Worker::new(&db).job(ping::Job).run(async { _ = stopped.await });
    /// let client = async {
    ///     let output = job.output::<u8>().await;
    ///     drop(stop);
    ///     output
    /// };
    /// let (report, output) = tokio::join!(worker, client);
    /// assert_eq!(output?, 8);
    /// assert!(report?.is_clean());
    /// # Ok(()) })
    /// # }
    /// ```
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn job<J>(self, _job: J) -> Self where Self: WorksOn<J> {
        Self { jobs: self.jobs.with::<<Self as WorksOn<J>>::Job>(), ..self }
    }

    /// With this pipeline, among others: see [`pipeline`](crate::pipeline).
    ///
    /// ```
    /// use pgflow::pipeline::{Pipeline, Queue};
    ///
    /// # fn example(db: &pgflow::Db) -> pgflow::Worker {
    /// let words = Queue::<String>::named("words");
    /// let shout = Pipeline::new("shout", &words)
    ///     .process(|word, _ctx| async move { Ok(word.to_uppercase()) });
    /// pgflow::Worker::new(db).pipeline(shout)
    /// # }
    /// ```
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn pipeline<P>(self, pipeline: P) -> Self where Self: WorksThrough<P> {
        Self { pipelines: self.pipelines.with(<Self as WorksThrough<P>>::through(pipeline)), ..self }
    }

    /// With a handler for a need that other programs, or other languages, hand jobs to: its payload is any JSON.
    pub fn need<F, R>(self, need: &str, handler: F) -> Self
    where
        F: Fn(Value, JobContext) -> R + Send + Sync + 'static,
        R: Future<Output = crate::Result<Next<()>>> + Send + 'static,
    {
        Self { jobs: self.jobs.with_raw(need, handler), ..self }
    }

    /// With this value of application state, for steps that take `State<T>`.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn state<T>(self, value: T) -> Self where Self: Shares<T> {
        self.sharing(value)
    }

    /// With so many tasks at once, whatever the environment says.
    pub fn concurrency(self, tasks: usize) -> Self {
        Self { concurrency: Some(tasks), ..self }
    }

    /// With so many tasks of this step at once, in this process: `.limit::<orders::charge>(4)`.
    pub fn limit<S: Step<Flow: Flow>>(self, tasks: usize) -> Self {
        Self { flows: self.flows.limit::<S>(tasks), ..self }
    }

    /// With so many jobs of this need at once, in this process: `.limit_need("gpu.render", 2)`.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[job] mod ping { use super::*; #[need] pub async fn pong(job: u8) -> Result<Next> { Ok(Next::done(job)) } }
    /// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let db = Db::connect("memory:").await?;
    /// let worker = Worker::new(&db).job(ping::Job).limit_need("ping.pong", 2);
    /// # Ok(()) })
    /// # }
    /// ```
    pub fn limit_need(self, need: &str, jobs: usize) -> Self {
        Self { jobs: self.jobs.limit(need, jobs), ..self }
    }

    /// With so much time for handlers to end after the worker was asked to stop. Besides this, a shutdown takes
    /// up to a second for handlers that do not, and up to seven if the database does not answer: 28 in all with the
    /// default of 20, within the 30 that Kubernetes gives.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn grace<D>(self, grace: D) -> Self where Self: Lasts<D> {
        let grace = <Self as Lasts<D>>::time(grace);
        Self { grace: grace.min(LONGEST_GRACE), ..self }
    }

    /// Deletes runs that ended more than so many days ago, of every flow in the database: some at a time, once an hour. Runs
    /// that go on are left alone. Without this call nothing is ever deleted; see also [`Db::prune`].
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
    /// # fn example(db: &pgflow::Db) -> pgflow::Worker {
    /// pgflow::Worker::new(db).flow(count::Flow).retain(30)
    /// # }
    /// ```
    pub fn retain(self, days: u32) -> Self {
        Self { retain: Some(days), ..self }
    }

    /// Looks every so often, and at most once a second, at what is open in the database, for the metrics `pgflow_open_runs`, `pgflow_open_tasks` and
    /// `pgflow_oldest_task_seconds`. One worker of a deployment is enough.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
    /// # fn example(db: &pgflow::Db) -> pgflow::Worker {
    /// let every = std::time::Duration::from_secs(15);
    /// pgflow::Worker::new(db).flow(count::Flow).report_backlog(every)
    /// # }
    /// ```
    pub fn report_backlog(self, every: Duration) -> Self {
        Self { report_backlog: Some(every), ..self }
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
    /// Handlers run on the runtime that this is called on. Claims, results and heartbeats have a thread and connections of
    /// their own, so that handlers which block all threads of the runtime do not lose their tasks; the log names the step
    /// of a handler that blocks its thread for a second. (Where tokio's clock is paused, everything runs here.)
    ///
    /// If this future is dropped, as by `select!`, handlers are told to stop and aborted at once, and their results
    /// are not recorded: their tasks wait for the end of their lease, and then run again. Let `shutdown` be ready instead.
    pub async fn run(
        self,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<WorkerReport, WorkerError> {
        let home = Home::new(Handle::current());
        self.run_with(Box::pin(shutdown), Box::pin(std::future::pending()), home, None).await
    }

    /// Works until SIGTERM or Ctrl-C. After a second signal the process ends: handlers are aborted, their tasks given back,
    /// and should the program still be there three seconds later, it is exited, with the status that
    /// [`exit_code`](WorkerReport::exit_code) has. A second signal that comes when the worker has ended, and any third one,
    /// exits at once.
    ///
    /// Signals are heard on a thread of their own, also if handlers block all others, until the process ends. If
    /// handlers that block their threads keep the program from going on after the first signal and the grace period, or its
    /// runtime from ending, it is exited in the same way.
    pub async fn run_until_signal(self) -> Result<WorkerReport, WorkerError> {
        let never = || -> BoxFuture<()> { Box::pin(std::future::pending()) };
        let home = Home::new(Handle::current());
        let exit = Exit::new(home.clone());
        let report = self.run_with(never(), never(), home, Some(exit.clone())).await;
        exit.program_goes_on();
        report
    }

    /// Works until `shutdown` is ready, and stops at once when `at_once` is.
    pub async fn run_until(
        self,
        shutdown: impl Future<Output = ()> + Send + 'static,
        at_once: impl Future<Output = ()> + Send + 'static,
    ) -> Result<WorkerReport, WorkerError> {
        let home = Home::new(Handle::current());
        self.run_with(Box::pin(shutdown), Box::pin(at_once), home, None).await
    }

    /// What goes on beside the work, until that ends.
    fn aside(&self) -> impl Future<Output = Infallible> + Send + use<> {
        let backend = self.db.backend().clone();
        let (keeping, queues) = (self.pipelines.keeping(), self.pipelines.needs());
        let retain = retention::retain(backend.clone(), self.retain, keeping, queues);
        let backlog = backlog::watch(
            backend,
            self.flows.slugs(),
            self.pipelines.needs(),
            self.report_backlog,
        );
        async {
            tokio::select! {
                never = retain => never,
                never = backlog => never,
            }
        }
    }

    /// Works on a thread of its own, and tells it when to stop: once politely, twice at once. With `exit`, signals do so.
    async fn run_with(
        self,
        shutdown: BoxFuture<()>,
        at_once: BoxFuture<()>,
        home: Home,
        exit: Option<Exit>,
    ) -> Result<WorkerReport, WorkerError> {
        let (count, asked) = watch::channel(0);
        let telling = signals::tell(shutdown, at_once, count);
        // Here, where they are told by tasks that outlast the worker.
        let wakes = self.db.backend().wakes();
        if thread::is_clock_paused() {
            return tokio::select! {
                report = self.work(home, wakes, asked) => report,
                () = telling => unreachable!("it tells for ever"),
            };
        }
        let work = async move {
            let stops = match &exit {
                None => asked.clone(),
                Some(_) => signals::stop_signals().map_err(WorkerError::Signals)?,
            };
            let report = tokio::select! {
                report = self.work(home, wakes, stops.clone()) => report?,
                () = signals::abandoned(asked) => return Ok(WorkerReport::default()),
            };
            if let Some(exit) = exit {
                exit.watch_the_end(report, stops);
            }
            Ok(report)
        };
        tokio::select! {
            report = thread::run(work) => report?,
            () = telling => unreachable!("it tells for ever"),
        }
    }

    async fn work(
        self,
        home: Home,
        wakes: Wakes,
        asked: watch::Receiver<u32>,
    ) -> Result<WorkerReport, WorkerError> {
        // What is wrong without asking anybody is said by a worker that is stopped at once, too.
        refuse_prefix(variable)?;
        if self.retain == Some(0) {
            return Err(WorkerError::Zero { what: "days to retain".to_owned() });
        }
        let (health, closed) = (self.health.clone(), self.db.closed());
        let aside = self.aside();
        let _ending = health.until_dropped();
        let mut shutdown: BoxFuture<()> = Box::pin(signals::after(asked.clone(), 1));
        let engine: Engine = tokio::select! {
            engine = startup::start(self, home, wakes) => engine?,
            () = &mut shutdown => return Ok(WorkerReport::default()),
        };
        health.phase(Phase::Working);
        health.running(0);
        let report = tokio::select! {
            report = engine.run(shutdown, Box::pin(signals::after(asked, 2))) => report,
            () = closed => return Err(BackendError::Closed.into()),
            never = aside => match never {},
        };
        tracing::info!(%report, "worker stopped");
        Ok(report)
    }
}
