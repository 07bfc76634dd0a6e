//! Workers, crashes and time, in a test.

mod crash;
#[cfg_attr(not(feature = "sqlite"), path = "sim/no_database.rs")]
pub(super) mod database;
pub(super) mod drive;
mod error;
mod faults;
mod jobs;
mod numbers;
mod observe;
mod signals;

use std::collections::HashMap;
use std::mem;
use std::time::Duration;

use pgflow_machine::{RunId, Timestamp, WorkerId};
use serde_json::Value;

pub use crash::{Crash, every_crash};
pub use error::SimError;

use super::block_on;
use crate::check::{Lasts, Runs, Shares, Starts, Takes};
use crate::client::Run;
use crate::db::{Db, version_of};
use crate::flow_handler::served::check_flows;
#[cfg(not(feature = "sqlite"))]
use crate::flow_handler::served::check_transactions;
use crate::job_handler::Kinds;
use crate::memory::Memory;
use crate::{Flow, Registry, States, Step};
use crash::Crashes;
use faults::Faults;
use numbers::Numbers;

/// Runs flows as workers and a database would, in the memory of a test: with retries and their delays, workers
/// that die at the moment you choose, and time that goes by as fast as you like.
///
/// State, events and outcomes are the engine's own, and steps are called by the worker's own code. Nothing is
/// left to chance: the same test does the same every time.
///
/// ```
/// use pgflow::prelude::*;
/// use pgflow::testing::{Crash, Sim};
/// use std::time::Duration;
///
/// #[flow(input = u32)]
/// mod order {
///     #[step(base_delay = 5)]
///     pub async fn charge(run: u32) -> pgflow::Result<String> {
///         Ok(format!("receipt for {run}"))
///     }
///
///     #[step(depends_on = [charge])]
///     pub async fn ship(charge: String) -> pgflow::Result<String> {
///         Ok(format!("parcel with {charge}"))
///     }
/// }
///
/// let mut sim = Sim::new().flow(order::Flow);
/// let run = sim.start(order::Flow, &7)?;
/// sim.fail::<order::charge>(1, "no answer");
/// sim.crash::<order::ship>(Crash::BeforeSettle, 1);
/// sim.run_until_idle();
///
/// assert_eq!(sim.output(&run)?.ship, "parcel with receipt for 7");
/// assert_eq!(
///     sim.log(&run),
///     [
///         "run:started",
///         "step:started charge",
///         "step:completed charge",
///         "step:started ship",
///         "step:completed ship",
///         "run:completed",
///     ]
/// );
/// // It was called, its worker died before it could say so, and it was called again.
/// assert_eq!(sim.calls::<order::ship>(), 2);
/// // The retry waited for 10 s, and the dead worker was waited for.
/// assert!(sim.elapsed() > Duration::from_secs(10 + 60));
/// # Ok::<(), pgflow::testing::SimError>(())
/// ```
#[derive(Debug)]
pub struct Sim {
    memory: Memory,
    db: Db,
    registry: Registry,
    states: States,
    /// What a flow was refused for; told by the next start.
    problem: Option<SimError>,
    faults: Faults,
    crashes: Crashes,
    /// Where there is a choice, it is made by these.
    numbers: Option<Numbers>,
    worker: WorkerId,
    runs: u32,
    calls: HashMap<StepKey, u32>,
    began_at: Timestamp,
    /// What steps return without being called.
    returns: HashMap<StepKey, Value>,
    #[cfg(feature = "sqlite")]
    database: Option<database::Database>,
    jobs: Kinds,
    /// When the next job may be had, as the last claim that got none was told.
    next_job: Option<Timestamp>,
    /// Schedules that flows declare are there.
    is_scheduled: bool,
}

/// Names of a flow and a step of it.
type StepKey = (&'static str, &'static str);

fn key_of<S: Step<Flow: Flow>>() -> StepKey {
    (<S::Flow as Flow>::SLUG, S::SLUG)
}

#[diagnostic::do_not_recommend]
impl<T: Clone + Send + Sync + 'static> Shares<T> for Sim {
    fn sharing(self, value: T) -> Self {
        Self { states: self.states.with(value), ..self }
    }
}

impl Sim {
    /// One worker that does one task after another, the oldest first.
    #[expect(clippy::new_without_default, reason = "two defaults would not share runs")]
    pub fn new() -> Self {
        let memory = Memory::new();
        Self {
            db: Db::new(memory.clone()),
            registry: Registry::default(),
            states: States::default(),
            problem: None,
            faults: Faults::default(),
            crashes: Crashes::default(),
            numbers: None,
            worker: WorkerId::new(),
            runs: 0,
            calls: HashMap::new(),
            began_at: memory.now(),
            returns: HashMap::new(),
            #[cfg(feature = "sqlite")]
            database: None,
            jobs: Kinds::default(),
            next_job: None,
            is_scheduled: false,
            memory,
        }
    }

    /// One worker that holds several tasks at once and finishes them in an order that the seed decides.
    ///
    /// ```
    /// use pgflow::prelude::*;
    /// use pgflow::testing::Sim;
    ///
    /// #[flow(input = Vec<u32>)]
    /// mod total {
    ///     #[step(map)]
    ///     pub async fn double(item: u32) -> pgflow::Result<u32> { Ok(item * 2) }
    ///     #[step(depends_on = [double])]
    ///     pub async fn sum(double: Vec<u32>) -> pgflow::Result<u32> { Ok(double.iter().sum()) }
    /// }
    ///
    /// for seed in 0..20 {
    ///     let mut sim = Sim::seeded(seed).flow(total::Flow);
    ///     let run = sim.start(total::Flow, &vec![1, 2, 3])?;
    ///     sim.run_until_idle();
    ///     assert_eq!(sim.output(&run)?.sum, 12, "seed {seed}");
    /// }
    /// # Ok::<(), pgflow::testing::SimError>(())
    /// ```
    pub fn seeded(seed: u64) -> Self {
        Self { numbers: Some(Numbers::new(seed)), ..Self::new() }
    }

    /// The same simulation with one more flow. If something is wrong with it, [`start`](Self::start) says so.
    #[must_use]
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn flow<F>(mut self, flow: F) -> Self where Self: Runs<F> {
        match mem::take(&mut self.registry).with(<Self as Runs<F>>::given(flow)) {
            Ok(registry) => self.registry = registry,
            Err(error) => self.problem = Some(SimError::Worker(error.into())),
        }
        let version = version_of(<Self as Runs<F>>::DEF);
        if let Err(error) = block_on(self.db.backend().ensure_flow(&version)) {
            self.problem = Some(SimError::Client(error.into()));
        }
        self
    }

    /// The same simulation with one more value of application state.
    #[must_use]
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn state<T>(self, value: T) -> Self where Self: Shares<T> {
        self.sharing(value)
    }

    /// Starts a run, under an id that is the same each time the test runs.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn start<F, I, G>(&mut self, flow: F, input: G) -> Result<Run<F>, SimError> where F: Flow, Db: Starts<F, I> + Takes<G, I> {
        if let Some(problem) = self.problem.take() {
            return Err(problem);
        }
        check_flows(&self.registry, &self.states)?;
        #[cfg(not(feature = "sqlite"))]
        check_transactions(&self.registry, &self.memory)?;
        self.runs += 1;
        let id = RunId::from_key(F::SLUG, &format!("run {} of a test", self.runs));
        Ok(block_on(self.db.start(flow, input).id(id).into_future())?)
    }

    /// The database of the simulation, for code that takes one.
    pub fn db(&self) -> &Db {
        &self.db
    }

    /// Lets time go by. What becomes due meanwhile waits for [`run_ready`](Self::run_ready) or
    /// [`run_until_idle`](Self::run_until_idle).
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn advance<D>(&mut self, time: D) where Self: Lasts<D> {
        let time = <Self as Lasts<D>>::time(time);
        self.memory.advance(time);
    }

    /// How much time has gone by.
    pub fn elapsed(&self) -> Duration {
        self.began_at.saturating_until(self.memory.now())
    }
}
