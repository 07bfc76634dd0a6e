//! A transaction: rows in, rows out.

use std::collections::HashMap;
use std::ops::DerefMut;
use std::sync::Arc;
use std::time::Duration;

use pgflow_backend::backend::{
    BackendError, JobDepths, JobEvent, JobQuery, JobRecord, JobSearch, JobSummary, PageSize, Parts,
    RunQuery, RunRecord, RunSummary, StreamQuery, StreamSummary,
};
use pgflow_backend::store::{
    JobSession, JobUpkeepSession, Logged, OpenWork, Session, Stored, StreamFound, StreamSession,
    Take, Taken,
};
use pgflow_machine::job::{JobHold, JobId, JobNeeds, JobRows, JobSettings, JobWrites};
use pgflow_machine::log::{StreamKey, StreamNeeds, StreamRows, StreamWrites};
use pgflow_machine::{
    Candidate, Catalog, FlowVersion, Lane, Needs, Payload, Ready, Rows, RunId, TaskKey, TaskLease,
    Timestamp, Version, WorkerId, Writes,
};
use pgflow_model::FlowMigration;
use pgflow_model::FlowShape;
use serde_json::Value;
use sqlx::MySqlConnection;
use tokio::time::timeout;

use crate::catalog::{self, Known};
use crate::error::{Error, Result, not_committed, timed_out};
use crate::{claim, definitions, jobs, list, load, payloads, read, recovery, streams, write};

/// A transaction on a connection of a pool, or of the application's.
#[derive(Debug)]
pub struct MySqlSession<C> {
    connection: C,
    pub(crate) now: Timestamp,
    pub(crate) catalog: Arc<Catalog>,
    /// Whether rows that are loaded are locked.
    pub(crate) locks: bool,
    /// How long the server may take to answer.
    answer_within: Duration,
    /// Whether a step has used it before.
    is_of_step: bool,
    /// Numbers of the newest events of runs that are loaded.
    pub(crate) last_seqs: HashMap<RunId, i64>,
}

impl<C: DerefMut<Target = MySqlConnection>> MySqlSession<C> {
    pub(crate) async fn begin(mut connection: C, known: &Known, locks: bool) -> Result<Self> {
        let (now, catalog) = known.read(&mut connection).await?;
        Ok(Self::new(connection, now, catalog, locks))
    }

    /// In the application's transaction.
    pub(crate) async fn inside(mut connection: C) -> Result<Self> {
        let (now, catalog) = catalog::fresh(&mut connection).await?;
        Ok(Self::new(connection, now, catalog, true))
    }

    /// In the transaction of a step, which has come to its end.
    pub(crate) async fn of_step(connection: C, known: &Known) -> Result<Self> {
        let session = Self::begin(connection, known, true).await?;
        Ok(Self { is_of_step: true, ..session })
    }

    pub(crate) fn new(connection: C, now: Timestamp, catalog: Arc<Catalog>, locks: bool) -> Self {
        let (is_of_step, last_seqs) = (false, HashMap::new());
        // Who waits for the application's own transaction is the application.
        let answer_within = Duration::MAX;
        Self { connection, now, catalog, locks, answer_within, is_of_step, last_seqs }
    }

    /// From now on, an answer that takes longer counts as none.
    pub(crate) fn in_time(self, answer_within: Duration) -> Self {
        Self { answer_within, ..self }
    }

    pub(crate) fn connection(&mut self) -> &mut MySqlConnection {
        &mut self.connection
    }

    pub(crate) fn into_connection(self) -> C {
        self.connection
    }

    /// A version by its number.
    pub(crate) fn version(&self, id: i64) -> Result<Arc<Version>> {
        let version = self.catalog.by_id(id);
        version
            .map(Arc::clone)
            .ok_or_else(|| crate::error::broken(format!("there is no flow of id {id}")))
    }

    /// Where a step has been before, what fails may lie in what it did.
    fn blame<T>(&self, result: Result<T>) -> Stored<T> {
        result.map_err(|error| match error {
            Error::Sqlx(error) if self.is_of_step => not_committed(error).into(),
            error => BackendError::from(error),
        })
    }
}

/// What a call of the session leads to. No answer in time is an error, after which nobody knows what happened.
macro_rules! answered {
    ($session:ident, $call:expr) => {{
        let limit = $session.answer_within;
        let late = |_| Err(timed_out("a statement", limit).into());
        let answer = timeout(limit, $call).await.unwrap_or_else(late);
        $session.blame(answer)
    }};
}

impl<C: DerefMut<Target = MySqlConnection> + Send> Session for MySqlSession<C> {
    type Task = claim::Claimable;

    fn now(&self) -> Timestamp {
        self.now
    }

    fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    async fn load(&mut self, needs: &Needs, rows: &mut Rows) -> Stored<()> {
        answered!(self, load::load(self, needs, rows))
    }

    async fn payloads(
        &mut self,
        wanted: &[(RunId, Payload)],
    ) -> Stored<HashMap<(RunId, Payload), Value>> {
        answered!(self, payloads::payloads(self, wanted))
    }

    async fn write(&mut self, rows: &Rows, writes: Writes<'_>) -> Stored<()> {
        answered!(self, write::write(self, rows, writes))
    }

    async fn ready(
        &mut self,
        lanes: &[Lane],
        max: u32,
    ) -> Stored<Vec<Ready<Candidate<claim::Claimable>>>> {
        answered!(self, claim::ready(self, lanes, max))
    }

    async fn make_way(&mut self, lanes: &[&Lane], max: u32) -> Stored<()> {
        answered!(self, claim::make_way(self, lanes, max))
    }

    async fn next_ready(
        &mut self,
        lanes: &[Lane],
        after: Option<Timestamp>,
    ) -> Stored<Option<Timestamp>> {
        answered!(self, claim::next_ready(self, lanes, after))
    }

    async fn take(
        &mut self,
        worker: WorkerId,
        tasks: &[Take<claim::Claimable>],
    ) -> Stored<Vec<Taken>> {
        answered!(self, claim::take(self, worker, tasks))
    }

    async fn lost(&mut self, max: u32) -> Stored<Vec<TaskKey>> {
        answered!(self, recovery::lost(self, max))
    }

    async fn held(&mut self, worker: WorkerId, queues: &[Arc<Version>]) -> Stored<Vec<TaskLease>> {
        answered!(self, recovery::held(self, worker, queues))
    }

    async fn hasten(&mut self, queues: &[Arc<Version>]) -> Stored<u64> {
        answered!(self, recovery::hasten(self, queues))
    }

    async fn prune(&mut self, ended_by: Timestamp, max: u32) -> Stored<u64> {
        answered!(self, recovery::prune(self, ended_by, max))
    }

    async fn record(&mut self, run: RunId, parts: Parts) -> Stored<Option<RunRecord>> {
        answered!(self, read::record(self, run, parts))
    }

    async fn list(&mut self, query: &RunQuery) -> Stored<Vec<RunSummary>> {
        answered!(self, list::list(self, query))
    }

    async fn statuses(&mut self, runs: &[RunId]) -> Stored<Vec<RunSummary>> {
        answered!(self, list::statuses(self, runs))
    }

    async fn log(&mut self, run: RunId, after: u64, max: u32) -> Stored<Option<Logged>> {
        answered!(self, read::log(self, run, after, max))
    }

    async fn outputs(&mut self, run: RunId, step: &str, first: u32) -> Stored<Vec<Value>> {
        answered!(self, payloads::outputs(self, run, step, first))
    }

    async fn open_work(&mut self, version: &Version) -> Stored<OpenWork> {
        answered!(self, definitions::open_work(self, version))
    }

    async fn insert_version(&mut self, version: &FlowVersion) -> Stored<()> {
        answered!(self, definitions::insert(self, version))
    }

    async fn set_shape(&mut self, version: &Version, shape: &FlowShape) -> Stored<()> {
        answered!(self, definitions::set_shape(self, version, shape))
    }

    async fn set_interface(&mut self, version: &Version, interface: &str) -> Stored<()> {
        answered!(self, definitions::set_interface(self, version, interface))
    }

    async fn delete_version(&mut self, version: &Version) -> Stored<()> {
        answered!(self, definitions::delete(self, version))
    }

    async fn applied(&mut self, package: &str, name: &str) -> Stored<Option<String>> {
        answered!(self, definitions::applied(self, package, name))
    }

    async fn record_applied(&mut self, package: &str, file: &FlowMigration) -> Stored<()> {
        answered!(self, definitions::record_applied(self, package, file))
    }
}

impl<C: DerefMut<Target = MySqlConnection> + Send> JobUpkeepSession for MySqlSession<C> {
    async fn job_depths(&mut self) -> Stored<JobDepths> {
        answered!(self, jobs::depths(self))
    }

    async fn find_jobs(&mut self, search: &JobSearch) -> Stored<Vec<JobSummary>> {
        answered!(self, jobs::find(self, search))
    }

    async fn jobs_beginning(&mut self, beginning: &str, max: u32) -> Stored<Vec<JobSummary>> {
        answered!(self, jobs::beginning(self, beginning, max))
    }

    async fn prunable_jobs(&mut self, ended_by: Timestamp, max: u64) -> Stored<u64> {
        answered!(self, jobs::prunable(self, ended_by, max))
    }
}

impl<C: DerefMut<Target = MySqlConnection> + Send> JobSession for MySqlSession<C> {
    async fn job_settings(&mut self) -> Stored<JobSettings> {
        answered!(self, jobs::settings(self))
    }

    async fn set_job_settings(&mut self, settings: JobSettings) -> Stored<()> {
        answered!(self, jobs::set_settings(self, settings))
    }

    async fn load_jobs(&mut self, needs: &JobNeeds, rows: &mut JobRows) -> Stored<()> {
        answered!(self, jobs::load(self, needs, rows))
    }

    async fn write_jobs(&mut self, rows: &JobRows, writes: JobWrites<'_>) -> Stored<()> {
        answered!(self, jobs::write(self, rows, writes))
    }

    async fn ready_jobs(&mut self, needs: &[String], max: u32) -> Stored<Vec<JobId>> {
        answered!(self, jobs::ready(self, needs, max))
    }

    async fn due_jobs(&mut self, needs: &[String], max: u32) -> Stored<Vec<JobId>> {
        answered!(self, jobs::due(self, needs, max))
    }

    async fn lapsed_jobs(&mut self, needs: Option<&[String]>, max: u32) -> Stored<Vec<JobId>> {
        answered!(self, jobs::lapsed(self, needs, max))
    }

    async fn held_jobs(&mut self, worker: &str) -> Stored<Vec<JobHold>> {
        answered!(self, jobs::held(self, worker))
    }

    async fn expired_jobs(&mut self, max: u32) -> Stored<Vec<JobId>> {
        answered!(self, jobs::expired(self, max))
    }

    async fn next_job(&mut self, needs: &[String]) -> Stored<Option<Timestamp>> {
        answered!(self, jobs::next(self, needs))
    }

    async fn job_payloads(&mut self, ids: &[JobId]) -> Stored<HashMap<JobId, Value>> {
        answered!(self, jobs::payloads(self, ids))
    }

    async fn job_record(&mut self, id: &JobId) -> Stored<Option<JobRecord>> {
        answered!(self, jobs::record(self, id))
    }

    async fn list_jobs(&mut self, query: &JobQuery) -> Stored<Vec<JobSummary>> {
        answered!(self, jobs::list(self, query))
    }

    async fn job_trace(&mut self, id: &JobId, after: u64, max: u32) -> Stored<Vec<JobEvent>> {
        answered!(self, jobs::trace(self, id, after, max))
    }

    async fn prune_jobs(&mut self, ended_by: Timestamp, max: u32) -> Stored<u64> {
        answered!(self, jobs::prune(self, ended_by, max))
    }
}

impl<C: DerefMut<Target = MySqlConnection> + Send> StreamSession for MySqlSession<C> {
    async fn load_stream(&mut self, needs: &StreamNeeds) -> Stored<StreamRows> {
        answered!(self, streams::load(self, needs))
    }

    async fn write_stream(
        &mut self,
        needs: &StreamNeeds,
        rows: &StreamRows,
        writes: StreamWrites<'_>,
    ) -> Stored<()> {
        answered!(self, streams::write(self, needs, rows, &writes))
    }

    async fn read_stream(
        &mut self,
        stream: &StreamKey,
        from: u64,
        size: PageSize,
    ) -> Stored<StreamFound> {
        answered!(self, streams::page(self, stream, from, size))
    }

    async fn list_streams(&mut self, query: &StreamQuery) -> Stored<Vec<StreamSummary>> {
        answered!(self, streams::list(self, query))
    }

    async fn prune_streams(&mut self, max: u32) -> Stored<u64> {
        answered!(self, streams::prune(self, max))
    }
}
