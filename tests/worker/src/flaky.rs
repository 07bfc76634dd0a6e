//! A backend that counts calls, and fails when told to.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use pgflow_machine::log::{Append, Appended, CloseStream, Closed, StreamKey, StreamProblem};
use pgflow_runtime::backend::{PageSize, StreamPage, StreamQuery, StreamSummary, Streams};
use pgflow_runtime::memory::Memory;
use pgflow_test_support::contract_prelude::*;
use pgflow_test_support::forward;
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
    /// It refuses, for a reason that may pass.
    Refusing,
    /// It says that it cannot store what it got.
    Unstorable,
    /// It has a bug.
    Panicking,
}

/// Memory with moods. Clones share everything.
#[derive(Clone, Debug)]
pub struct Flaky {
    inner: Arc<dyn Backend>,
    moods: Arc<Mutex<BTreeMap<&'static str, (Mood, u32)>>>,
    calls: Arc<Mutex<BTreeMap<&'static str, u32>>>,
    drops_hints: bool,
    is_shared: bool,
}

/// Memory with a clock that follows that of the runtime: in a test with `#[tokio::test(start_paused = true)]`, hours cost nothing.
pub fn virtual_memory() -> Memory {
    const TICK: Duration = Duration::from_millis(50);
    let memory = Memory::new();
    let clock = memory.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(TICK).await;
            clock.advance(TICK);
        }
    });
    memory
}

impl Default for Flaky {
    /// In real time.
    fn default() -> Self {
        Self::of(Memory::in_real_time(), false)
    }
}

impl Flaky {
    fn of(inner: Memory, drops_hints: bool) -> Self {
        let inner: Arc<dyn Backend> = Arc::new(inner);
        Self { inner, moods: Arc::default(), calls: Arc::default(), drops_hints, is_shared: false }
    }

    /// In real time, and as if other processes could use it: what a client asks runs as a task.
    pub fn shared() -> Self {
        Self { is_shared: true, ..Self::default() }
    }

    /// Without hints, and [in virtual time](virtual_memory).
    pub fn in_virtual_time() -> Self {
        Self::of(virtual_memory(), true)
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
                Some(Mood::Unstorable) => Err(BackendError::Unstorable("too odd".into())),
                Some(Mood::Panicking) => panic!("a bug in the backend"),
            }
        })
    }

    #[expect(clippy::unused_self, reason = "as `through` is called")]
    fn untouched<'a, T: 'a>(
        &'a self,
        _method: &'static str,
        call: impl FnOnce() -> Reply<'a, T> + Send + 'a,
    ) -> Reply<'a, T> {
        call()
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
        Abilities {
            multi_process: self.is_shared,
            holds_connections: self.is_shared,
            ..self.inner.abilities()
        }
    }
    fn wakes(&self) -> Wakes {
        if self.drops_hints { Wakes::new(Sender::new(1).subscribe()) } else { self.inner.wakes() }
    }
    fn streams(&self) -> Result<&dyn Streams, BackendError> {
        Ok(self)
    }
    forward!(self.inner.through: limits migrate);
    forward!(self.inner.untouched: close);
}

impl Streams for Flaky {
    fn append<'a>(&'a self, append: &'a Append<'a>) -> Reply<'a, Result<Appended, StreamProblem>> {
        self.through("append", move || {
            Box::pin(async move { self.inner.streams()?.append(append).await })
        })
    }
    fn close_stream<'a>(
        &'a self,
        close: &'a CloseStream<'a>,
    ) -> Reply<'a, Result<Closed, StreamProblem>> {
        self.through("close_stream", move || {
            Box::pin(async move { self.inner.streams()?.close_stream(close).await })
        })
    }
    fn read_stream<'a>(
        &'a self,
        stream: &'a StreamKey,
        from: u64,
        size: PageSize,
    ) -> Reply<'a, Option<StreamPage>> {
        self.through("read_stream", move || {
            Box::pin(async move { self.inner.streams()?.read_stream(stream, from, size).await })
        })
    }
    fn list_streams<'a>(&'a self, query: &'a StreamQuery) -> Reply<'a, Vec<StreamSummary>> {
        Box::pin(async move { self.inner.streams()?.list_streams(query).await })
    }
    fn prune_streams(&self, max: u32) -> Reply<'_, u64> {
        Box::pin(async move { self.inner.streams()?.prune_streams(max).await })
    }
}

impl Definitions for Flaky {
    forward!(self.inner.through: ensure_flow apply versions set_interface);
}

impl Runs for Flaky {
    forward!(self.inner.through: start cancel retry run statuses input outputs list events prune);
}

impl Upkeep for Flaky {
    forward!(self.inner.untouched: upkeep);
}

impl Work for Flaky {
    fn claim<'a>(&'a self, claim: &'a Claim) -> Reply<'a, Claimed> {
        self.claim_late(claim);
        self.through("claim", move || self.inner.claim(claim))
    }
    fn sweep_and_claim<'a>(&'a self, claim: &'a Claim) -> Reply<'a, (Swept, Claimed)> {
        self.claim_late(claim);
        self.through("sweep_and_claim", move || self.inner.sweep_and_claim(claim))
    }
    fn settle<'a>(
        &'a self,
        settles: &'a [Settle],
        next: Option<&'a Claim>,
    ) -> Reply<'a, Settlement> {
        match next {
            // A claim that goes along has a mood of its own.
            Some(_) if lock(&self.moods).get("next").is_some_and(|(_, left)| *left > 0) => {
                self.through("next", move || self.inner.settle(settles, next))
            }
            _ => self.through("settle", move || self.inner.settle(settles, next)),
        }
    }
    forward!(self.inner.through: heartbeat sweep release_unknown);
    forward!(self.inner.untouched: begin commit);
}
