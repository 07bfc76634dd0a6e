//! A backend that keeps runs in the memory of this process: for tests, and for programs that need no
//! more.
//!
//! ```
//! use pgflow_backend::backend::{Definitions, Ensured, FlowVersion, NewRun, Runs, Started};
//! use pgflow_backend::memory::Memory;
//! use pgflow_machine::RunId;
//! use pgflow_model::{FlowShape, StepShape};
//!
//! # pgflow::testing::block_on(async {
//! let memory = Memory::new();
//! let mut shape = FlowShape::new("greet");
//! shape.steps.push(StepShape::new("hello"));
//! let version = FlowVersion { flow: "greet".into(), version: 1, slug: "greet".into(), shape };
//! assert_eq!(memory.ensure_flow(&version).await?, Ensured::Created);
//! let run = NewRun::new("greet", "Ann", RunId::new());
//! assert_eq!(memory.start(run).await?, Started::Created);
//! # Ok::<(), pgflow_backend::backend::BackendError>(())
//! # }).unwrap();
//! ```

mod claim;
mod clock;
mod data;
mod definitions;
mod inspect;
mod job_session;
mod job_upkeep;
mod jobs;
mod pipelines;
mod prune;
mod queue;
mod run;
mod schedules;
mod session;
mod streams;
mod upkeep;
mod wait_session;
mod waits;
mod write;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pgflow_machine::{Timestamp, WorkerId};
use tokio::sync::broadcast;

use crate::backend::{Abilities, BackendError, Wake, Wakes};
use crate::store::{Access, Cursors, Store, Stored};
use clock::Clock;
use data::Data;
use session::MemorySession;

/// Hints that a slow listener may be behind before it is told to look at everything.
const WAKES: usize = 1024;

/// Runs in the memory of this process. Clones share them.
///
/// ```
/// use pgflow_backend::backend::Backend;
/// use pgflow_backend::memory::Memory;
///
/// assert_eq!(Memory::new().name(), "memory");
/// ```
#[derive(Clone, Debug)]
pub struct Memory {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    data: Mutex<Data>,
    /// Whoever has it is in a transaction.
    turn: Arc<tokio::sync::Mutex<()>>,
    claims: AtomicU32,
    cursors: Cursors,
    wakes: broadcast::Sender<Wake>,
    is_closed: AtomicBool,
    kept: Mutex<upkeep::Kept>,
}

impl Shared {
    fn data(&self) -> MutexGuard<'_, Data> {
        // A panic leaves at worst a batch half applied, which a test would rather see than a second panic.
        self.data.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
        let shared = Shared {
            data: Mutex::new(Data::new(clock)),
            turn: Arc::default(),
            claims: AtomicU32::new(0),
            cursors: Cursors::default(),
            wakes: broadcast::Sender::new(WAKES),
            is_closed: AtomicBool::new(false),
            kept: Mutex::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// What time it is.
    pub fn now(&self) -> Timestamp {
        self.shared.data().clock.now()
    }

    /// Lets time go by, all at once.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let memory = pgflow_backend::memory::Memory::new();
    /// let before = memory.now();
    /// memory.advance(Duration::from_secs(60));
    /// assert_eq!(memory.now(), before + Duration::from_secs(60));
    /// ```
    pub fn advance(&self, time: Duration) {
        self.shared.data().clock.advance(time);
        // Nobody listening is no mistake.
        let _ = self.shared.wakes.send(Wake::Gap);
    }

    /// When something becomes due next: a delayed task that can be claimed then, or a held one that is lost by
    /// then. Nothing if only a worker or a client can change anything.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.shared.data().next_due()
    }

    /// When a schedule is due next: now, if a worker has to find that out. Unlike all else, schedules never come to an end.
    pub fn next_scheduled(&self) -> Option<Timestamp> {
        let data = self.shared.data();
        data.schedules.next_due(data.clock.now())
    }
}

impl Store for Memory {
    type Session = MemorySession;

    const NAME: &'static str = "memory";

    fn abilities(&self) -> Abilities {
        Abilities { multi_process: false, transactions: false, holds_connections: false }
    }

    /// There is no schema, only an end.
    async fn migrate(&self) -> Stored<()> {
        self.begin(Access::Read).await.map(drop)
    }

    async fn begin(&self, _access: Access) -> Stored<MemorySession> {
        if self.shared.is_closed.load(Ordering::Acquire) {
            return Err(BackendError::Closed);
        }
        Ok(MemorySession::begin(&self.shared).await)
    }

    async fn commit(&self, session: MemorySession) -> Stored<()> {
        drop(session);
        Ok(())
    }

    fn nth_claim(&self) -> u32 {
        self.shared.claims.fetch_add(1, Ordering::Relaxed).wrapping_add(1)
    }

    fn cursors(&self) -> &Cursors {
        &self.shared.cursors
    }

    fn wake(&self, wake: Wake) {
        // Nobody listening is no mistake.
        let _ = self.shared.wakes.send(wake);
    }

    fn sign_off(&self, worker: WorkerId) -> impl Future<Output = Stored<()>> + Send {
        self.note_end(worker);
        std::future::ready(Ok(()))
    }

    fn wakes(&self) -> Wakes {
        Wakes::new(self.shared.wakes.subscribe())
    }

    async fn close(&self) -> Stored<()> {
        self.shared.is_closed.store(true, Ordering::Release);
        Ok(())
    }
}
