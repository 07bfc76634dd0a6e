//! Waits: the part of the contract about attempts that end before what they are for has happened.

use std::time::Duration;

use pgflow_machine::job::{Dependency, JobId};
use pgflow_machine::wait::{HookToken, Signal, Signalled, WaitKind};
use pgflow_machine::{RunId, TaskKey, TaskLease, Timestamp};
use uuid::Uuid;

use super::Reply;

/// A database whose tasks can wait for signals, moments and children. Tasks begin to wait with a settle
/// ([`Until::Met`](pgflow_machine::Until::Met)). Every method but [`wake_waits`](Self::wake_waits) is one transaction.
///
/// | rule | |
/// |---|---|
/// | W1 | ending an attempt by waiting is one settle: task, wait and children are there if and only if it commits |
/// | W2 | a waiting task has no lease and no slot, and can wait for years |
/// | W3 | what has happened before the wait was stored counts |
/// | W4 | when it happens, the task is completed and what depends on it started: one transaction |
/// | W5 | a child that does not end well fails the attempt, unless its outcome was asked for; children go with who waits for them, unless they are detached |
/// | W6 | a timeout, by the database's clock, fails the attempt |
/// | W7 | a payload that does not fit is refused with the place, and the wait stays open |
pub trait Waits: Send + Sync {
    /// Tokens of the hooks of these attempts: the same one for all attempts of a task. Nothing for a lease that does not hold.
    fn announce<'a>(&'a self, leases: &'a [TaskLease]) -> Reply<'a, Vec<Option<HookToken>>>;

    /// Tells a task what it waits for.
    fn signal<'a>(&'a self, signal: &'a Signal) -> Reply<'a, Signalled>;

    /// Open waits, the oldest first.
    fn list_waits<'a>(&'a self, query: &'a WaitQuery) -> Reply<'a, Vec<WaitRecord>>;

    /// Waits that should have ended longer ago than this, and have not; up to `max` of them are counted.
    fn late_waits(&self, by: Duration, max: u32) -> Reply<'_, LateWaits>;

    /// Lets up to `max` waits go on that are due, or whose children have ended, and cancels up to `max` children that nobody
    /// waits for any more. Claims and sweeps do it too; each is a transaction of its own.
    fn wake_waits(&self, max: u32) -> Reply<'_, Woken>;
}

/// Which waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitQuery {
    /// Of this run.
    pub run: Option<RunId>,
    /// For a signal with this token.
    pub token: Option<HookToken>,
    /// Only after this one in the list: the last of the page before.
    pub after: Option<(Timestamp, TaskKey)>,
    /// How many.
    pub max: u32,
}

impl Default for WaitQuery {
    fn default() -> Self {
        Self { run: None, token: None, after: None, max: 50 }
    }
}

impl WaitQuery {
    /// Which part of the list is asked for: 0 is all of it, 1 that of a run, 2 that of a token. A store has an index for each.
    pub fn part(&self) -> u8 {
        match (self.run, &self.token) {
            (None, None) => 0,
            (Some(_), _) => 1,
            (None, Some(_)) => 2,
        }
    }

    /// What it is to come after, in microseconds and as a task: before everything, if it is to come after nothing.
    pub fn place(&self) -> (i64, TaskKey) {
        let first =
            || (i64::MIN, TaskKey { run: RunId(Uuid::nil()), step: String::new(), index: 0 });
        let place = |(since, task): &(Timestamp, TaskKey)| (since.micros(), task.clone());
        self.after.as_ref().map_or_else(first, place)
    }
}

/// Waits that nobody has ended in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LateWaits {
    /// How many.
    pub waits: u64,
    /// How long ago the first of them should have ended.
    pub longest: Option<Duration>,
}

impl LateWaits {
    /// From how many there are, and when the first of them should have ended.
    pub fn new(waits: u64, first: Option<Timestamp>, now: Timestamp) -> Self {
        Self { waits, longest: first.map(|until| until.saturating_until(now)) }
    }
}

/// A task that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitRecord {
    /// Which one.
    pub task: TaskKey,
    /// The attempt that ended with it.
    pub attempt: u32,
    /// What for.
    pub on: WaitingFor,
    /// Since when.
    pub since: Timestamp,
    /// Until when at most; for a sleep, when it ends.
    pub until: Option<Timestamp>,
}

/// What a task waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitingFor {
    /// A signal.
    Hook {
        /// Whoever knows it can send one. Nothing if it was announced, and who looks may not.
        token: Option<HookToken>,
    },
    /// A moment.
    Sleep,
    /// Runs; the first [`CHILDREN`](Self::CHILDREN) of them.
    Runs(Vec<RunId>),
    /// Jobs; the first [`CHILDREN`](Self::CHILDREN) of them.
    Jobs(Vec<JobId>),
}

impl WaitingFor {
    /// So many children are named.
    pub const CHILDREN: u32 = 100;

    /// From what is kept of a wait: its kind, its token, its children by position.
    pub fn new(
        kind: WaitKind,
        token: Option<HookToken>,
        children: impl IntoIterator<Item = Dependency>,
    ) -> Self {
        let children = children.into_iter().take(Self::CHILDREN as usize);
        match (kind, token) {
            (WaitKind::Hook, token) => Self::Hook { token },
            (WaitKind::Sleep, _) => Self::Sleep,
            (WaitKind::Runs, _) => Self::Runs(children.filter_map(|child| child.run()).collect()),
            (WaitKind::Jobs, _) => {
                Self::Jobs(children.filter_map(|child| child.job().cloned()).collect())
            }
        }
    }
}

/// What was done for waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Woken {
    /// Tasks that wait no longer because what they waited for is over.
    pub woken: u64,
    /// Tasks that waited too long.
    pub timed_out: u64,
    /// Children that were cancelled because nobody waits for them any more.
    pub cancelled: u64,
    /// Signals that were deleted because nobody has waited for them in time.
    pub expired: u64,
}
