//! A transaction: what of the database it has seen, and the contract of stores.

use std::collections::{BTreeSet, HashMap};
use std::ops::DerefMut;
use std::sync::Arc;

use pgflow_machine::{
    Candidate, Catalog, FlowVersion, Lane, Needs, Payload, Ready, Rows, RunId, TaskKey, TaskLease,
    TaskRef, Timestamp, Version, WorkerId, Writes,
};
use pgflow_model::FlowShape;
use serde_json::Value;
use sqlx::{Sqlite, SqliteConnection, Transaction};

use super::definitions::{SPAN, step_in};
use super::error::{Result, broken};
use super::{claim, definitions, list, load, lost, payloads, pipelines, prune, read, write};
use pgflow_backend::backend::{Parts, RunQuery, RunRecord, RunSummary};
use pgflow_backend::store::{Logged, OpenWork, Session, Stored, Take, Taken};
use pgflow_model::FlowMigration;

/// A transaction, on a connection of ours or on the application's.
#[derive(Debug)]
pub struct SqliteSession<C = Transaction<'static, Sqlite>> {
    pub(super) connection: C,
    pub(super) now: Timestamp,
    pub(super) catalog: Arc<Catalog>,
    /// Runs that were met, by the numbers of their rows.
    pub(super) ids: HashMap<RunId, i64>,
    /// Runs that were loaded.
    pub(super) places: HashMap<RunId, RunRowIds>,
}

/// Where a run's rows are.
#[derive(Debug)]
pub(super) struct RunRowIds {
    pub(super) id: i64,
    /// Number of its newest event.
    pub(super) last_seq: i64,
    /// Ids of the steps' first tasks.
    pub(super) first_tasks: Vec<Option<i64>>,
}

impl RunRowIds {
    /// The row of a step.
    pub(super) fn step_id(&self, step: usize) -> i64 {
        self.id * SPAN + definitions::place(step)
    }

    /// The row of a task, if its step has started.
    pub(super) fn task_id(&self, at: TaskRef) -> Option<i64> {
        Some(self.first_tasks[at.step]? + i64::from(at.index))
    }
}

/// What a transaction runs on.
pub trait Conn: DerefMut<Target = SqliteConnection> + Send {}

impl<C: DerefMut<Target = SqliteConnection> + Send> Conn for C {}

impl<C: Conn> SqliteSession<C> {
    pub(super) fn new(connection: C, now: Timestamp, catalog: Arc<Catalog>) -> Self {
        Self { connection, now, catalog, ids: HashMap::new(), places: HashMap::new() }
    }

    pub(super) fn place(&self, run: RunId) -> Result<&RunRowIds> {
        self.places.get(&run).ok_or_else(|| broken(format!("run {run} was not loaded")))
    }

    /// The version of this id.
    pub(super) fn version(&self, id: i64) -> Result<&Arc<Version>> {
        self.catalog.by_id(id).ok_or_else(|| broken(format!("there is no flow of id {id}")))
    }

    /// The version and the step of a queue.
    pub(super) fn queue(&self, queue: i64) -> Result<(&Arc<Version>, usize)> {
        Ok((self.version(queue / SPAN)?, step_in(queue)))
    }
}

impl<C: Conn> Session for SqliteSession<C> {
    /// The number of its row.
    type Task = i64;

    fn now(&self) -> Timestamp {
        self.now
    }

    fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    async fn load(&mut self, needs: &Needs, rows: &mut Rows) -> Stored<()> {
        Ok(load::load(self, needs, rows).await?)
    }

    async fn payloads(
        &mut self,
        wanted: &[(RunId, Payload)],
    ) -> Stored<HashMap<(RunId, Payload), Value>> {
        Ok(payloads::payloads(self, wanted).await?)
    }

    async fn weights(&mut self, run: RunId) -> Stored<HashMap<Payload, usize>> {
        Ok(payloads::weights(self, run).await?)
    }

    async fn write(&mut self, rows: &Rows, writes: Writes<'_>) -> Stored<()> {
        Ok(write::write(self, rows, writes).await?)
    }

    async fn drop_task_holds(&mut self, attempts: &[(TaskRef, u32)]) -> Stored<BTreeSet<String>> {
        Ok(pipelines::drop_task_holds(self, attempts).await?)
    }

    async fn ready(&mut self, lanes: &[Lane], max: u32) -> Stored<Vec<Ready<Candidate<i64>>>> {
        Ok(claim::ready(self, lanes, max).await?)
    }

    async fn make_way(&mut self, lanes: &[&Lane], max: u32) -> Stored<()> {
        Ok(claim::make_way(self, lanes, max).await?)
    }

    async fn next_ready(
        &mut self,
        lanes: &[Lane],
        after: Option<Timestamp>,
    ) -> Stored<Option<Timestamp>> {
        Ok(claim::next_ready(self, lanes, after).await?)
    }

    async fn take(&mut self, worker: WorkerId, tasks: &[Take<i64>]) -> Stored<Vec<Taken>> {
        Ok(claim::take(self, worker, tasks).await?)
    }

    async fn lost(&mut self, max: u32) -> Stored<Vec<TaskKey>> {
        Ok(lost::lost(self, max).await?)
    }

    async fn held(&mut self, worker: WorkerId, queues: &[Arc<Version>]) -> Stored<Vec<TaskLease>> {
        Ok(lost::held(self, worker, queues).await?)
    }

    async fn hasten(&mut self, queues: &[Arc<Version>]) -> Stored<u64> {
        Ok(lost::hasten(self, queues).await?)
    }

    async fn prune(&mut self, ended_by: Timestamp, max: u32) -> Stored<u64> {
        Ok(prune::prune(self, ended_by, max).await?)
    }

    async fn record(&mut self, run: RunId, parts: Parts) -> Stored<Option<RunRecord>> {
        Ok(read::record(self, run, parts).await?)
    }

    async fn list(&mut self, query: &RunQuery) -> Stored<Vec<RunSummary>> {
        Ok(list::list(self, query).await?)
    }

    async fn statuses(&mut self, runs: &[RunId]) -> Stored<Vec<RunSummary>> {
        Ok(list::statuses(self, runs).await?)
    }

    async fn log(&mut self, run: RunId, after: u64, max: u32) -> Stored<Option<Logged>> {
        Ok(read::log(self, run, after, max).await?)
    }

    async fn outputs(
        &mut self,
        run: RunId,
        step: &str,
        first: u32,
        bytes: u32,
    ) -> Stored<Vec<Value>> {
        Ok(payloads::outputs(self, run, step, first, bytes).await?)
    }

    async fn open_work(&mut self, version: &Version) -> Stored<OpenWork> {
        Ok(list::open_work(self, version).await?)
    }

    async fn insert_version(&mut self, version: &FlowVersion) -> Stored<()> {
        Ok(definitions::insert(self, version).await?)
    }

    async fn set_shape(&mut self, version: &Version, shape: &FlowShape) -> Stored<()> {
        Ok(definitions::set_shape(self, version, shape).await?)
    }

    async fn set_interface(&mut self, version: &Version, interface: &str) -> Stored<()> {
        Ok(definitions::set_interface(self, version, interface).await?)
    }

    async fn delete_version(&mut self, version: &Version) -> Stored<()> {
        Ok(definitions::delete(self, version).await?)
    }

    async fn applied(&mut self, package: &str, name: &str) -> Stored<Option<String>> {
        Ok(definitions::applied(self, package, name).await?)
    }

    async fn record_applied(&mut self, package: &str, file: &FlowMigration) -> Stored<()> {
        Ok(definitions::record_applied(self, package, file).await?)
    }
}
