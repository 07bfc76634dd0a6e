//! Waits of a store: rows in, rows out.

use std::future::Future;

use pgflow_machine::job::Dependency;
use pgflow_machine::wait::{Child, ChildEnd, Glance, HookToken, WaitRow};
use pgflow_machine::{RunId, TaskKey, Ties, Timestamp, Version};
use serde_json::Value;
use uuid::Uuid;

use super::Stored;
use crate::backend::{WaitQuery, WaitRecord};

/// A wait with its children, by position.
#[derive(Clone, Debug)]
pub struct OpenWait {
    /// Who waits.
    pub task: TaskKey,
    /// What for.
    pub row: WaitRow,
    /// Runs or jobs.
    pub children: Vec<Child>,
}

/// Which waits.
#[derive(Clone, Copy, Debug)]
pub enum WaitsOf<'a> {
    /// That of a task.
    Task(&'a TaskKey),
    /// Those of a step of a run.
    Step(RunId, &'a str),
    /// Those of a run.
    Run(RunId),
}

/// A signal that was delivered, or that is kept.
#[derive(Clone, Copy, Debug)]
pub struct SignalRow<'a> {
    /// Where to, as a word.
    pub target: &'a str,
    /// Unique among those of its target.
    pub resume_id: &'a str,
    /// The run that it is of, if that is known: it goes with it.
    pub run: Option<RunId>,
    /// What it says, in short, if its sender chose its resume id.
    pub digest: Option<Uuid>,
    /// While it is kept: what it says, and until when.
    pub kept: Option<(&'a Value, Timestamp)>,
}

/// What is known of a signal.
#[derive(Clone, Copy, Debug)]
pub struct SignalFound {
    /// Its number.
    pub number: i64,
    /// Until when it is kept, if it is.
    pub expires_at: Option<Timestamp>,
    /// What it says, in short; nothing if an older program stored it.
    pub digest: Option<Uuid>,
}

/// A child that nobody waits for any more.
#[derive(Clone, Debug)]
pub struct Orphan {
    /// Which run or job.
    pub child: Dependency,
    /// Whose task waited for it.
    pub parent: RunId,
    /// Why it is to be cancelled.
    pub reason: String,
}

/// The part of a transaction that is about waits. It decides nothing. A store that locks rows locks hooks after runs and tasks.
pub trait WaitSession: Send {
    /// Adds waits with their children. Their runs are tied from then on ([`Ties`](pgflow_machine::Ties)).
    fn open_waits(&mut self, waits: &[OpenWait]) -> impl Future<Output = Stored<()>> + Send;

    /// What a task waits for, without its children. Its run is locked.
    fn load_wait(&mut self, task: &TaskKey)
    -> impl Future<Output = Stored<Option<WaitRow>>> + Send;

    /// The children of such a wait, by position. What they say is locked.
    fn load_children(
        &mut self,
        task: &TaskKey,
        attempt: u32,
    ) -> impl Future<Output = Stored<Vec<Child>>> + Send;

    /// How the children of such a wait are doing. It costs the same however many they are.
    fn glance(
        &mut self,
        task: &TaskKey,
        attempt: u32,
    ) -> impl Future<Output = Stored<Glance>> + Send;

    /// Takes waits away, with their names of hooks and children. Those of the children that go on and are not detached are left as
    /// orphans, to be cancelled for this reason; says how many.
    fn close_waits(
        &mut self,
        of: WaitsOf<'_>,
        reason: &str,
    ) -> impl Future<Output = Stored<u64>> + Send;

    /// Up to `max` tasks whose waits may be over: their time is, or a child has ended since somebody looked. Without a lock.
    fn due_waits(&mut self, max: u32) -> impl Future<Output = Stored<Vec<TaskKey>>> + Send;

    /// When there is something to do for waits: the first may be over then, or a signal was kept long enough; now, or any moment
    /// before, if a child has ended or is an orphan.
    fn next_wait(&mut self) -> impl Future<Output = Stored<Option<Timestamp>>> + Send;

    /// Notes how children ended, and says how many of them somebody waits for.
    fn note_ends(
        &mut self,
        ends: &[(Dependency, ChildEnd)],
    ) -> impl Future<Output = Stored<u64>> + Send;

    /// The same, also where another end was noted before.
    fn replace_ends(
        &mut self,
        ends: &[(Dependency, ChildEnd)],
    ) -> impl Future<Output = Stored<()>> + Send;

    /// The runs of a version that have open waits, or that a task waits for or has waited for. They are locked.
    fn tied_runs(
        &mut self,
        version: &Version,
    ) -> impl Future<Output = Stored<Vec<(RunId, Ties)>>> + Send;

    /// Somebody has looked at the ends of a task's children.
    fn mark_seen(&mut self, task: &TaskKey) -> impl Future<Output = Stored<()>> + Send;

    /// Up to `max` children that nobody waits for any more. Without a lock.
    fn orphans(&mut self, max: u32) -> impl Future<Output = Stored<Vec<Orphan>>> + Send;

    /// Whether a task waits for the end of this child, whose row is locked.
    fn is_awaited(&mut self, child: &Dependency) -> impl Future<Output = Stored<bool>> + Send;

    /// An orphan is none any more.
    fn forget_orphan(&mut self, child: &Dependency) -> impl Future<Output = Stored<()>> + Send;

    /// Whose hook this is. Without a lock.
    fn find_hook(
        &mut self,
        token: &HookToken,
    ) -> impl Future<Output = Stored<Option<TaskKey>>> + Send;

    /// The same. Until the transaction ends, no other one can lock it: also one that nobody has.
    fn lock_hook(
        &mut self,
        token: &HookToken,
    ) -> impl Future<Output = Stored<Option<TaskKey>>> + Send;

    /// A hook is a task's from now on; it is locked, or of a new token.
    fn set_hook(
        &mut self,
        token: &HookToken,
        task: &TaskKey,
    ) -> impl Future<Output = Stored<()>> + Send;

    /// The token that was announced for a task.
    fn announced(
        &mut self,
        task: &TaskKey,
    ) -> impl Future<Output = Stored<Option<HookToken>>> + Send;

    /// The signal with this resume id.
    fn find_signal(
        &mut self,
        target: &str,
        resume_id: &str,
    ) -> impl Future<Output = Stored<Option<SignalFound>>> + Send;

    /// Adds a signal.
    fn put_signal(&mut self, signal: SignalRow<'_>) -> impl Future<Output = Stored<()>> + Send;

    /// Signals that are kept for this target and whose time is not over: their numbers, in the order in which they came.
    fn kept_signals(&mut self, target: &str) -> impl Future<Output = Stored<Vec<i64>>> + Send;

    /// What such a signal says.
    fn kept_payload(&mut self, signal: i64) -> impl Future<Output = Stored<Value>> + Send;

    /// A signal that was kept is delivered to a task of this run.
    fn use_signal(&mut self, signal: i64, run: RunId) -> impl Future<Output = Stored<()>> + Send;

    /// Deletes a signal.
    fn drop_signal(&mut self, signal: i64) -> impl Future<Output = Stored<()>> + Send;

    /// Deletes up to `max` signals that were kept for too long, and says how many.
    fn expire_signals(&mut self, max: u32) -> impl Future<Output = Stored<u64>> + Send;

    /// How many waits should have ended by then, counted up to `max`, and when the first of them should have.
    fn late_waits(
        &mut self,
        until: Timestamp,
        max: u32,
    ) -> impl Future<Output = Stored<(u64, Option<Timestamp>)>> + Send;

    /// Open waits, the oldest first.
    fn list_waits(
        &mut self,
        query: &WaitQuery,
    ) -> impl Future<Output = Stored<Vec<WaitRecord>>> + Send;
}
