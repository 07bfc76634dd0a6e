//! A backend that keeps runs in the memory of this process: for tests, and for programs that need no
//! more.
//!
//! ```
//! use pgflow_runtime::backend::{Backend, Ensured, FlowVersion, NewRun, Started};
//! use pgflow_runtime::memory::Memory;
//! use pgflow_machine::RunId;
//! use pgflow_model::{FlowShape, StepShape};
//!
//! # pgflow_runtime::testing::block_on(async {
//! let memory = Memory::new();
//! let mut shape = FlowShape::new("greet");
//! shape.steps.push(StepShape::new("hello"));
//! let version = FlowVersion { flow: "greet".into(), version: 1, slug: "greet".into(), shape };
//! assert_eq!(memory.ensure_flow(&version).await?, Ensured::Created);
//! let run = NewRun { flow: "greet".into(), input: "Ann".into(), id: RunId::new() };
//! assert_eq!(memory.start(run).await?, Started::Created);
//! # Ok::<(), pgflow_runtime::backend::BackendError>(())
//! # }).unwrap();
//! ```

mod claim;
mod clock;
mod flows;
mod inspect;
mod lease;
mod queue;
mod run;
mod runs;
mod settle;
mod store;
mod unknown;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pgflow_machine::{Beat, Event, Lease, Limits, RunId, Settle, Settled, Timestamp, WorkerId};
use tokio::sync::broadcast;

use crate::backend::{
    Abilities, Backend, BackendError, Cancelled, Claim, Claimed, Ensured, FlowVersion,
    KnownVersion, NewRun, Parts, Reply, Retried, RunQuery, RunRecord, RunSummary, Started, Swept,
    Wake, Wakes, Work,
};
use crate::tx::Tx;
use clock::Clock;
use store::Store;

/// Hints that a slow listener may be behind before it is told to look at everything.
const WAKES: usize = 1024;

/// Runs in the memory of this process. Clones share them.
///
/// ```
/// use pgflow_runtime::backend::Backend;
/// use pgflow_runtime::memory::Memory;
///
/// assert_eq!(Memory::new().name(), "memory");
/// ```
#[derive(Clone, Debug)]
pub struct Memory {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    store: Mutex<Store>,
    wakes: broadcast::Sender<Wake>,
    is_closed: AtomicBool,
}

impl Memory {
    /// Where time stands still until somebody calls [`advance`](Self::advance): for tests.
    #[expect(clippy::new_without_default, reason = "two defaults would not share runs")]
    pub fn new() -> Self {
        Self::at(Clock::still())
    }

    /// Where time goes by: what `memory:` is.
    pub fn in_real_time() -> Self {
        Self::at(Clock::real())
    }

    fn at(clock: Clock) -> Self {
        let store = Mutex::new(Store::new(clock));
        Self {
            shared: Arc::new(Shared {
                store,
                wakes: broadcast::Sender::new(WAKES),
                is_closed: AtomicBool::new(false),
            }),
        }
    }

    /// What time it is.
    pub fn now(&self) -> Timestamp {
        self.store().clock.now()
    }

    /// Lets time go by, all at once.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let memory = pgflow_runtime::memory::Memory::new();
    /// let before = memory.now();
    /// memory.advance(Duration::from_secs(60));
    /// assert_eq!(memory.now(), before + Duration::from_secs(60));
    /// ```
    pub fn advance(&self, time: Duration) {
        self.store().clock.advance(time);
        // Nobody listening is no mistake.
        let _ = self.shared.wakes.send(Wake::Gap);
    }

    /// When something becomes due next: a delayed task that can be claimed then, or a held one that is lost by
    /// then. Nothing if only a worker or a client can change anything.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.store().next_due()
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        // A panic leaves at worst a batch half applied, which a test would rather see than a second panic.
        self.shared.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One transition, and the hints that follow from it.
    fn transact<'a, T: Send + 'a>(
        &self,
        transition: impl FnOnce(&mut Store) -> Result<T, BackendError>,
    ) -> Reply<'a, T> {
        if self.shared.is_closed.load(Ordering::Acquire) {
            return Box::pin(std::future::ready(Err(BackendError::Closed)));
        }
        let mut store = self.store();
        let result = transition(&mut store);
        for flow in store.take_changed() {
            let _ = self.shared.wakes.send(Wake::Flow(flow));
        }
        drop(store);
        Box::pin(std::future::ready(result))
    }
}

impl Backend for Memory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn abilities(&self) -> Abilities {
        Abilities { multi_process: false, transactions: false }
    }

    fn limits(&self) -> Reply<'_, Limits> {
        self.transact(|store| Ok(store.limits))
    }

    fn migrate(&self) -> Reply<'_, ()> {
        self.transact(|_| Ok(()))
    }

    fn ensure_flow<'a>(&'a self, version: &'a FlowVersion) -> Reply<'a, Ensured> {
        self.transact(|store| store.ensure_flow(version))
    }

    fn versions<'a>(&'a self, flows: &'a [&'a str]) -> Reply<'a, Vec<KnownVersion>> {
        self.transact(|store| Ok(store.versions(flows)))
    }

    fn start(&self, run: NewRun) -> Reply<'_, Started> {
        self.transact(|store| store.start(run))
    }

    fn cancel<'a>(&'a self, run: RunId, reason: Option<&'a str>) -> Reply<'a, Cancelled> {
        self.transact(|store| Ok(store.cancel(run, reason)))
    }

    fn retry(&self, run: RunId) -> Reply<'_, Retried> {
        self.transact(|store| store.retry(run))
    }

    fn run(&self, run: RunId, parts: Parts) -> Reply<'_, Option<RunRecord>> {
        self.transact(|store| Ok(store.record(run, parts)))
    }

    fn list<'a>(&'a self, query: &'a RunQuery) -> Reply<'a, Vec<RunSummary>> {
        self.transact(|store| Ok(store.list(query)))
    }

    fn events(&self, run: RunId, after: u64, max: u32) -> Reply<'_, Vec<Event>> {
        self.transact(|store| Ok(store.events(run, after, max)))
    }

    fn claim<'a>(&'a self, claim: &'a Claim) -> Reply<'a, Claimed> {
        self.transact(|store| Ok(store.claim(claim)))
    }

    fn settle<'a>(&'a self, settles: &'a [Settle], next: Option<&'a Claim>) -> Reply<'a, Work> {
        self.transact(|store| {
            let settled = store.settle(settles)?;
            let claimed = next.map(|claim| store.claim(claim)).unwrap_or_default();
            Ok(Work { settled, claimed })
        })
    }

    fn heartbeat<'a>(&'a self, leases: &'a [Lease]) -> Reply<'a, Vec<Beat>> {
        self.transact(|store| Ok(leases.iter().map(|lease| store.beat(lease)).collect()))
    }

    fn sweep(&self) -> Reply<'_, Swept> {
        self.transact(Store::sweep)
    }

    fn release_unknown<'a>(
        &'a self,
        worker: WorkerId,
        queues: &'a [String],
        known: &'a [Lease],
    ) -> Reply<'a, u64> {
        self.transact(|store| store.release_unknown(worker, queues, known))
    }

    fn wakes(&self) -> Wakes {
        Wakes::new(self.shared.wakes.subscribe())
    }

    fn begin<'a>(&'a self, _lease: &'a Lease) -> Reply<'a, Option<Tx>> {
        self.transact(|_| Err(no_transactions()))
    }

    fn commit<'a>(&'a self, _tx: Tx, _settle: &'a Settle) -> Reply<'a, Settled> {
        self.transact(|_| Err(no_transactions()))
    }

    fn close(&self) -> Reply<'_, ()> {
        self.shared.is_closed.store(true, Ordering::Release);
        Box::pin(std::future::ready(Ok(())))
    }
}

fn no_transactions() -> BackendError {
    BackendError::Unsupported { backend: "memory", what: "open a transaction for a step" }
}
