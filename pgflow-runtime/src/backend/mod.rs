//! The contract between the engine and a database.
//!
//! A [`Backend`] keeps runs. Each of its methods is one transition: one transaction, committed before
//! the method returns, and in the best case one round trip. What can be expected to happen is an outcome, not an
//! error; an error means that the request was wrong or that nobody knows whether it took effect, and then
//! asking again leads to the same state.
//!
//! | rule | |
//! |---|---|
//! | R1, R2 | events of a run are numbered 1, 2, 3 … without gaps; whoever saw number *n* can see all before it |
//! | R3 | a settle or heartbeat of a superseded attempt changes nothing |
//! | R4, R5 | a run or step ends once, and an end is final; only [`Backend::retry`] opens a failed run again |
//! | R6 | a lost hint costs latency, never work |
//! | R7 | time is the database's; durations travel as numbers |
//! | R8 | a claim is committed before it is returned |
//! | R9 | repeating a call whose outcome is unknown leads to the same state |
//! | R10 | a payload comes back as it went in |

mod error;
mod flow;
mod replay;
mod run;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod said;
mod wake;
mod work;

use std::fmt;
use std::future::Future;
use std::pin::Pin;

pub use error::BackendError;
pub use flow::{Ensured, FlowVersion, KnownVersion};
pub use run::{
    Cancelled, NewRun, Parts, Retried, RunQuery, RunRecord, RunSummary, Started, StepRecord,
};
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub use said::Said;
pub use wake::{Wake, Wakes};
pub use work::{Claim, Claimed, ClaimedTask, Quota, Swept, Work};

use pgflow_machine::{Beat, Event, Lease, Limits, RunId, Settle, Settled, WorkerId};

use crate::FlowMigrations;
use crate::tx::Tx;

/// What a method of a [`Backend`] returns.
pub type Reply<'a, T> = Pin<Box<dyn Future<Output = Result<T, BackendError>> + Send + 'a>>;

/// What a backend can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// Other processes can work on the same runs.
    pub multi_process: bool,
    /// A step's own SQL can share the transaction that records its completion.
    pub transactions: bool,
}

/// A database that keeps runs.
pub trait Backend: fmt::Debug + Send + Sync + 'static {
    /// Its name, for messages: `postgres`, `sqlite`, `memory`.
    fn name(&self) -> &'static str;

    /// What it can do.
    fn abilities(&self) -> Abilities;

    /// What payloads it takes. The caller checks them before it sends any.
    fn limits(&self) -> Reply<'_, Limits>;

    /// Brings the database's schema up to date. Safe to call at every start of every process.
    fn migrate(&self) -> Reply<'_, ()>;

    /// Registers a version of a flow, or compares it with what is there.
    fn ensure_flow<'a>(&'a self, version: &'a FlowVersion) -> Reply<'a, Ensured>;

    /// Applies the migrations of a program's flows that the database does not have yet, and returns their
    /// names. A database that outlives the process must remember each file by package, name and checksum, and
    /// apply all of them in one transaction; without memory of its own, what the files lead to is enough.
    fn apply<'a>(&'a self, migrations: &'a FlowMigrations) -> Reply<'a, Vec<&'static str>> {
        Box::pin(replay::replay(self, migrations))
    }

    /// Versions of these flows that the database has, with what waits on each.
    fn versions<'a>(&'a self, flows: &'a [&'a str]) -> Reply<'a, Vec<KnownVersion>>;

    /// Starts a run, and its first steps with it.
    fn start(&self, run: NewRun) -> Reply<'_, Started>;

    /// Ends a run before it is done.
    fn cancel<'a>(&'a self, run: RunId, reason: Option<&'a str>) -> Reply<'a, Cancelled>;

    /// Lets a failed run go on from what failed; completed steps and tasks are kept.
    fn retry(&self, run: RunId) -> Reply<'_, Retried>;

    /// A run, with as much as is asked for.
    fn run(&self, run: RunId, parts: Parts) -> Reply<'_, Option<RunRecord>>;

    /// Runs, the newest first.
    fn list<'a>(&'a self, query: &'a RunQuery) -> Reply<'a, Vec<RunSummary>>;

    /// Up to `max` events of a run after number `after`, in order.
    fn events(&self, run: RunId, after: u64, max: u32) -> Reply<'_, Vec<Event>>;

    /// Takes tasks, none of them for longer than its step's timeout and two seconds.
    fn claim<'a>(&'a self, claim: &'a Claim) -> Reply<'a, Claimed>;

    /// Settles attempts, and claims more work on the same trip if `next` says so. There is an
    /// outcome per settle, in their order.
    fn settle<'a>(&'a self, settles: &'a [Settle], next: Option<&'a Claim>) -> Reply<'a, Work>;

    /// Says that tasks are still being worked on; an answer per lease, in their order.
    fn heartbeat<'a>(&'a self, leases: &'a [Lease]) -> Reply<'a, Vec<Beat>>;

    /// Takes back tasks of workers that are gone, and ends steps that lost too many. Any process may call
    /// it at any time.
    fn sweep(&self) -> Reply<'_, Swept>;

    /// [Sweeps](Self::sweep), then [claims](Self::claim), in one call: for workers that have nothing else to say. What
    /// was lost can be claimed at once. The two may be transactions of their own.
    fn sweep_and_claim<'a>(&'a self, claim: &'a Claim) -> Reply<'a, (Swept, Claimed)> {
        Box::pin(async move {
            let swept = self.sweep().await?;
            Ok((swept, self.claim(claim).await?))
        })
    }

    /// Gives back, as [`Verdict::Released`](pgflow_machine::Verdict::Released) does, what the database says this
    /// worker holds of these queues and the worker does not know of: tasks of a claim whose answer got lost.
    /// Returns how many there were. A lease is known with its attempt.
    ///
    /// Not while a claim of the same worker is under way: it would lose what it is about to be told.
    fn release_unknown<'a>(
        &'a self,
        worker: WorkerId,
        queues: &'a [String],
        known: &'a [Lease],
    ) -> Reply<'a, u64>;

    /// A worker has ended, and everything it had is recorded or given back: for people who look at what workers there are.
    /// From this call on, before its answer is awaited, the worker does not count as alive.
    fn sign_off(&self, worker: WorkerId) -> Reply<'_, ()> {
        let _ = worker;
        Box::pin(std::future::ready(Ok(())))
    }

    /// Hints that something may have changed.
    fn wakes(&self) -> Wakes;

    /// Opens the transaction that a `tx` step runs in, if the lease still holds.
    fn begin<'a>(&'a self, lease: &'a Lease) -> Reply<'a, Option<Tx>>;

    /// Records the completion of a `tx` step in its transaction, and commits if it took effect; otherwise all
    /// that the step wrote is undone.
    fn commit<'a>(&'a self, tx: Tx, settle: &'a Settle) -> Reply<'a, Settled>;

    /// Closes its connections.
    fn close(&self) -> Reply<'_, ()>;
}
