//! A transaction of a store: rows in, rows out.

use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::sync::Arc;

use pgflow_machine::{
    Candidate, Catalog, Entry, FlowVersion, Lane, Needs, Payload, Ready, Rows, RunId, TaskKey,
    TaskLease, TaskRef, Timestamp, Version, WorkerId, Writes,
};
use pgflow_model::FlowShape;
use serde_json::Value;

use super::{
    JobSession, JobUpkeepSession, PipelineSession, ScheduleSession, Stored, StreamSession,
    WaitSession,
};
use crate::backend::{Parts, RunQuery, RunRecord, RunSummary};
use pgflow_model::FlowMigration;

/// A task to take, and until when.
#[derive(Clone, Copy, Debug)]
pub struct Take<T> {
    /// The task.
    pub task: T,
    /// When its worker counts as lost.
    pub lost_after: Timestamp,
}

/// A task that was taken.
#[derive(Clone, Debug)]
pub struct Taken {
    /// Which one.
    pub at: TaskRef,
    /// Its version of the flow.
    pub version: Arc<Version>,
    /// Which claim of it this is.
    pub attempt: u32,
    /// The element that it works on, if it is of a map.
    pub element: Option<Value>,
}

/// What is open of a version.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenWork {
    /// Runs that have not ended.
    pub runs: u64,
    /// Their tasks that wait or are being worked on.
    pub tasks: u64,
    /// Since when there have been such tasks.
    pub since: Option<Timestamp>,
}

/// Entries of a run's log.
#[derive(Clone, Debug)]
pub struct Logged {
    /// The run's version of the flow.
    pub version: Arc<Version>,
    /// Number, moment and entry.
    pub entries: Vec<(u64, Timestamp, Entry)>,
}

/// A transaction of a [`Store`](super::Store). It decides nothing: what it is asked for it reads, what it is told it writes.
pub trait Session:
    JobSession + JobUpkeepSession + PipelineSession + StreamSession + WaitSession + ScheduleSession
{
    /// What it finds a task again by that may be claimed.
    type Task: Copy + Send + Sync;

    /// The database's time.
    fn now(&self) -> Timestamp;

    /// The versions that there are.
    fn catalog(&self) -> &Arc<Catalog>;

    /// Adds rows: runs and tasks, and the outputs of maps; not [`Needs::payloads`]. A store that locks rows locks these,
    /// in the order of [`Needs`].
    fn load(&mut self, needs: &Needs, rows: &mut Rows) -> impl Future<Output = Stored<()>> + Send;

    /// Payloads, without those that there are none of.
    fn payloads(
        &mut self,
        wanted: &[(RunId, Payload)],
    ) -> impl Future<Output = Stored<HashMap<(RunId, Payload), Value>>> + Send;

    /// How many bytes of JSON the payloads of a run have, or a little more: those that there are.
    fn weights(
        &mut self,
        run: RunId,
    ) -> impl Future<Output = Stored<HashMap<Payload, usize>>> + Send;

    /// Writes what a command decided, with a number of statements that does not depend on how much it is. Entries of a
    /// run's log get the next numbers of that run.
    fn write(&mut self, rows: &Rows, writes: Writes<'_>)
    -> impl Future<Output = Stored<()>> + Send;

    /// Deletes what these attempts hold. Says of which resources they held something.
    fn drop_task_holds(
        &mut self,
        attempts: &[(TaskRef, u32)],
    ) -> impl Future<Output = Stored<BTreeSet<String>>> + Send;

    /// Tasks that may be claimed, up to `max` of each lane in each of two ranges: bulk, and what is not
    /// ([`bulk_until`](pgflow_machine::bulk_until)). The oldest ones, in that order. A store that locks rows passes over
    /// those that are locked.
    fn ready(
        &mut self,
        lanes: &[Lane],
        max: u32,
    ) -> impl Future<Output = Stored<Vec<Ready<Candidate<Self::Task>>>>> + Send;

    /// Moves tasks of these lanes that are ready, not bulk and from [`BULK_FROM`](pgflow_machine::BULK_FROM) on to where bulk is
    /// ([`to_bulk`](pgflow_machine::to_bulk)): of each lane those among the oldest `max`. A store that locks rows passes
    /// over those that are locked.
    fn make_way(&mut self, lanes: &[&Lane], max: u32) -> impl Future<Output = Stored<()>> + Send;

    /// When the first task of these lanes may be claimed that may not until this moment; the first of all if there is none.
    fn next_ready(
        &mut self,
        lanes: &[Lane],
        after: Option<Timestamp>,
    ) -> impl Future<Output = Stored<Option<Timestamp>>> + Send;

    /// Takes tasks, in this order.
    fn take(
        &mut self,
        worker: WorkerId,
        tasks: &[Take<Self::Task>],
    ) -> impl Future<Output = Stored<Vec<Taken>>> + Send;

    /// Up to `max` tasks that are lost by now, without a lock.
    fn lost(&mut self, max: u32) -> impl Future<Output = Stored<Vec<TaskKey>>> + Send;

    /// What a worker holds of these queues, without a lock.
    fn held(
        &mut self,
        worker: WorkerId,
        queues: &[Arc<Version>],
    ) -> impl Future<Output = Stored<Vec<TaskLease>>> + Send;

    /// Makes tasks of these queues ready now that would be later because their last attempt was held back. Returns how many.
    fn hasten(&mut self, queues: &[Arc<Version>]) -> impl Future<Output = Stored<u64>> + Send;

    /// Deletes up to `max` runs that ended at this moment or before, with all that is theirs. Returns how many.
    fn prune(&mut self, ended_by: Timestamp, max: u32) -> impl Future<Output = Stored<u64>> + Send;

    /// A run, with as much as is asked for.
    fn record(
        &mut self,
        run: RunId,
        parts: Parts,
    ) -> impl Future<Output = Stored<Option<RunRecord>>> + Send;

    /// Runs, the newest first.
    fn list(&mut self, query: &RunQuery) -> impl Future<Output = Stored<Vec<RunSummary>>> + Send;

    /// How runs are doing.
    fn statuses(&mut self, runs: &[RunId]) -> impl Future<Output = Stored<Vec<RunSummary>>> + Send;

    /// Up to `max` entries of a run's log after this number; nothing if there is no such run.
    fn log(
        &mut self,
        run: RunId,
        after: u64,
        max: u32,
    ) -> impl Future<Output = Stored<Option<Logged>>> + Send;

    /// What the tasks of a completed step put out, from this index on: a page of about so many bytes at most, and one of them at
    /// least.
    fn outputs(
        &mut self,
        run: RunId,
        step: &str,
        first: u32,
        bytes: u32,
    ) -> impl Future<Output = Stored<Vec<Value>>> + Send;

    /// What is open of a version.
    fn open_work(&mut self, version: &Version) -> impl Future<Output = Stored<OpenWork>> + Send;

    /// Adds a version; it is in the [catalog](Self::catalog) from then on.
    fn insert_version(&mut self, version: &FlowVersion) -> impl Future<Output = Stored<()>> + Send;

    /// Gives a version another shape: the same graph with other options.
    fn set_shape(
        &mut self,
        version: &Version,
        shape: &FlowShape,
    ) -> impl Future<Output = Stored<()>> + Send;

    /// Notes what a version takes and puts out.
    fn set_interface(
        &mut self,
        version: &Version,
        interface: &str,
    ) -> impl Future<Output = Stored<()>> + Send;

    /// Deletes a version with all its runs.
    fn delete_version(&mut self, version: &Version) -> impl Future<Output = Stored<()>> + Send;

    /// The checksum of a flow's migration that was applied.
    fn applied(
        &mut self,
        package: &str,
        name: &str,
    ) -> impl Future<Output = Stored<Option<String>>> + Send;

    /// Notes that a flow's migration was applied.
    fn record_applied(
        &mut self,
        package: &str,
        file: &FlowMigration,
    ) -> impl Future<Output = Stored<()>> + Send;
}
