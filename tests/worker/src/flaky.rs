//! A backend that counts calls, and fails when told to.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pgflow_machine::{Beat, Lease, Settle, Settled, WorkerId};
use pgflow_runtime::backend::{
    Abilities, Backend, BackendError, Cancelled, Claim, Claimed, Ensured, FlowVersion,
    KnownVersion, NewRun, Parts, Reply, Retried, RunQuery, RunRecord, RunSummary, Started, Swept,
    Wakes, Work,
};
use pgflow_runtime::memory::Memory;
use pgflow_runtime::{Event, Limits, RunId, Tx};
use tokio::sync::broadcast::Sender;

/// How the backend feels about a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// It does nothing, and says that it is unreachable.
    Down,
    /// It does what it should, but its answer is lost.
    AnswerLost,
    /// It says at once that it is unreachable, and does what it should a little later.
    AnswerLate,
    /// It refuses for good.
    Refusing,
    /// It has a bug.
    Panicking,
}

/// Memory with moods. Clones share everything.
#[derive(Clone, Debug)]
pub struct Flaky {
    inner: Memory,
    moods: Arc<Mutex<BTreeMap<&'static str, (Mood, u32)>>>,
    calls: Arc<Mutex<BTreeMap<&'static str, u32>>>,
    drops_hints: bool,
}

impl Default for Flaky {
    /// In real time.
    fn default() -> Self {
        Self::of(Memory::in_real_time(), false)
    }
}

impl Flaky {
    fn of(inner: Memory, drops_hints: bool) -> Self {
        Self { inner, moods: Arc::default(), calls: Arc::default(), drops_hints }
    }

    /// Without hints, and with a clock that follows that of the runtime: in a test with
    /// `#[tokio::test(start_paused = true)]`, hours cost nothing.
    pub fn in_virtual_time() -> Self {
        const TICK: Duration = Duration::from_millis(50);
        let memory = Memory::new();
        let clock = memory.clone();
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(TICK).await;
                clock.advance(TICK);
            }
        });
        Self::of(memory, true)
    }

    /// The next `times` calls of a method get this mood.
    pub fn set(&self, method: &'static str, mood: Mood, times: u32) {
        lock(&self.moods).insert(method, (mood, times));
    }

    /// How often a method was called.
    pub fn calls(&self, method: &str) -> u32 {
        lock(&self.calls).get(method).copied().unwrap_or(0)
    }

    /// How often anything was called.
    pub fn all_calls(&self) -> u32 {
        lock(&self.calls).values().sum()
    }

    /// A claim that also sweeps is counted apart, and shares the mood of claims.
    fn mood(&self, method: &'static str) -> Option<Mood> {
        *lock(&self.calls).entry(method).or_default() += 1;
        let mut moods = lock(&self.moods);
        let mood = if method == "sweep_and_claim" { "claim" } else { method };
        let (mood, left) = moods.get_mut(mood)?;
        *left = left.checked_sub(1)?;
        Some(*mood)
    }

    /// Claims in a moment, if it is in the mood for that.
    fn claim_late(&self, claim: &Claim) {
        let mood = lock(&self.moods).get("claim").copied();
        if mood.is_some_and(|(mood, left)| mood == Mood::AnswerLate && left > 0) {
            let (inner, claim) = (self.inner.clone(), claim.clone());
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(500)).await;
                inner.claim(&claim).await
            });
        }
    }

    /// The call is only made if the mood allows it.
    fn through<'a, T: Send + 'a>(
        &'a self,
        method: &'static str,
        call: impl FnOnce() -> Reply<'a, T> + Send + 'a,
    ) -> Reply<'a, T> {
        let mood = self.mood(method);
        Box::pin(async move {
            match mood {
                None => call().await,
                Some(Mood::Down | Mood::AnswerLate) => Err(unreachable()),
                Some(Mood::AnswerLost) => call().await.and(Err(unreachable())),
                Some(Mood::Refusing) => Err(BackendError::Refused("in a bad mood".into())),
                Some(Mood::Panicking) => panic!("a bug in the backend"),
            }
        })
    }
}

fn unreachable() -> BackendError {
    BackendError::Unreachable(io::Error::from(io::ErrorKind::ConnectionReset).into())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Backend for Flaky {
    fn name(&self) -> &'static str {
        "flaky"
    }
    fn abilities(&self) -> Abilities {
        self.inner.abilities()
    }
    fn limits(&self) -> Reply<'_, Limits> {
        self.through("limits", move || self.inner.limits())
    }
    fn migrate(&self) -> Reply<'_, ()> {
        self.through("migrate", move || self.inner.migrate())
    }
    fn ensure_flow<'a>(&'a self, version: &'a FlowVersion) -> Reply<'a, Ensured> {
        self.through("ensure_flow", move || self.inner.ensure_flow(version))
    }
    fn versions<'a>(&'a self, flows: &'a [&'a str]) -> Reply<'a, Vec<KnownVersion>> {
        self.through("versions", move || self.inner.versions(flows))
    }
    fn start(&self, run: NewRun) -> Reply<'_, Started> {
        self.through("start", move || self.inner.start(run))
    }
    fn cancel<'a>(&'a self, run: RunId, reason: Option<&'a str>) -> Reply<'a, Cancelled> {
        self.through("cancel", move || self.inner.cancel(run, reason))
    }
    fn retry(&self, run: RunId) -> Reply<'_, Retried> {
        self.through("retry", move || self.inner.retry(run))
    }
    fn run(&self, run: RunId, parts: Parts) -> Reply<'_, Option<RunRecord>> {
        self.through("run", move || self.inner.run(run, parts))
    }
    fn list<'a>(&'a self, query: &'a RunQuery) -> Reply<'a, Vec<RunSummary>> {
        self.through("list", move || self.inner.list(query))
    }
    fn events(&self, run: RunId, after: u64, max: u32) -> Reply<'_, Vec<Event>> {
        self.through("events", move || self.inner.events(run, after, max))
    }
    fn claim<'a>(&'a self, claim: &'a Claim) -> Reply<'a, Claimed> {
        self.claim_late(claim);
        self.through("claim", move || self.inner.claim(claim))
    }
    fn settle<'a>(&'a self, settles: &'a [Settle], next: Option<&'a Claim>) -> Reply<'a, Work> {
        self.through("settle", move || self.inner.settle(settles, next))
    }
    fn heartbeat<'a>(&'a self, leases: &'a [Lease]) -> Reply<'a, Vec<Beat>> {
        self.through("heartbeat", move || self.inner.heartbeat(leases))
    }
    fn sweep(&self) -> Reply<'_, Swept> {
        self.through("sweep", move || self.inner.sweep())
    }
    fn sweep_and_claim<'a>(&'a self, claim: &'a Claim) -> Reply<'a, (Swept, Claimed)> {
        self.claim_late(claim);
        self.through("sweep_and_claim", move || self.inner.sweep_and_claim(claim))
    }
    fn release_unknown<'a>(
        &'a self,
        worker: WorkerId,
        queues: &'a [String],
        known: &'a [Lease],
    ) -> Reply<'a, u64> {
        self.through("release_unknown", move || self.inner.release_unknown(worker, queues, known))
    }
    fn wakes(&self) -> Wakes {
        if self.drops_hints { Wakes::new(Sender::new(1).subscribe()) } else { self.inner.wakes() }
    }
    fn begin<'a>(&'a self, lease: &'a Lease) -> Reply<'a, Option<Tx>> {
        self.inner.begin(lease)
    }
    fn commit<'a>(&'a self, tx: Tx, settle: &'a Settle) -> Reply<'a, Settled> {
        self.inner.commit(tx, settle)
    }
    fn close(&self) -> Reply<'_, ()> {
        self.inner.close()
    }
}
