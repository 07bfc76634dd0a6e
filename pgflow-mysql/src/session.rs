//! A transaction: rows in, rows out.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::DerefMut;
use std::sync::Arc;
use std::time::Duration;

use pgflow_backend::backend::{
    BackendError, DueQuery, DueSchedules, Hold, JobDepths, JobEvent, JobQuery, JobRecord,
    JobSearch, JobSummary, MessageRow, PageSize, Parts, PausedNeed, RunQuery, RunRecord,
    RunSummary, ScheduleQuery, StreamQuery, StreamSummary, TaskHold, WaitQuery, WaitRecord,
};
use pgflow_backend::store::{
    JobSession, JobUpkeepSession, Logged, OpenWait, OpenWork, Orphan, PipelineSession,
    ScheduleSession, Session, SignalFound, SignalRow, Stored, StreamFound, StreamSession, Take,
    Taken, WaitSession, WaitsOf,
};
use pgflow_machine::job::{
    Dependency, JobHold, JobId, JobNeeds, JobRows, JobSettings, JobToken, JobWrites, ReadyJob,
};
use pgflow_machine::log::{StreamKey, StreamNeeds, StreamRows, StreamWrites};
use pgflow_machine::permit::{PermitKey, PermitKind, Place, Waiting};
use pgflow_machine::schedule::Schedule;
use pgflow_machine::wait::{Child, ChildEnd, Glance, HookToken, WaitRow};
use pgflow_machine::{
    Candidate, Catalog, FlowVersion, Lane, Limits, Needs, Payload, Ready, Rows, RunId, TaskKey,
    TaskLease, TaskRef, Ties, Timestamp, Version, WorkerId, Writes,
};
use pgflow_model::FlowMigration;
use pgflow_model::FlowShape;
use serde::Serialize;
use serde_json::Value;
use sqlx::MySqlConnection;
use tokio::time::timeout;

use crate::catalog::{self, Begun, Known};
use crate::error::{Error, Result, not_recorded, timed_out};
use crate::json_rows::json_parts;
use crate::settings::Settings;
use crate::{
    claim, definitions, jobs, list, load, payloads, pipelines, read, recovery, schedules, streams,
    waits, write,
};

/// Whose a transaction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Engine,
    /// A step has used it before.
    Step,
    /// It may see everything as it was when it began. Only what is locked is then as it is.
    Application,
}

/// A transaction on a connection of a pool, or of the application's.
#[derive(Debug)]
pub struct MySqlSession<C> {
    connection: C,
    pub(crate) now: Timestamp,
    pub(crate) catalog: Arc<Catalog>,
    /// Whether there may be something to wake.
    pub(crate) has_waits: bool,
    /// Whether rows that are loaded are locked.
    pub(crate) locks: bool,
    owner: Owner,
    pub(crate) settings: Settings,
    /// How long the server may take to answer.
    answer_within: Duration,
    /// Numbers of the newest events of runs that are loaded.
    pub(crate) last_seqs: HashMap<RunId, i64>,
}

impl<C: DerefMut<Target = MySqlConnection>> MySqlSession<C> {
    /// An answer that takes longer than this counts as none, from the first look on.
    pub(crate) async fn begin(
        mut connection: C,
        known: &Known,
        locks: bool,
        answer_within: Duration,
    ) -> Result<Self> {
        let late = |_| Err(timed_out("a first look", answer_within).into());
        let look = timeout(answer_within, known.read(&mut connection));
        let begun = look.await.unwrap_or_else(late)?;
        Ok(Self { answer_within, ..Self::new(connection, begun, locks) })
    }

    /// In the application's transaction.
    pub(crate) async fn inside(mut connection: C) -> Result<Self> {
        let begun = catalog::fresh(&mut connection).await?;
        Ok(Self { owner: Owner::Application, ..Self::new(connection, begun, true) })
    }

    /// In the transaction of a step, which has come to its end.
    pub(crate) async fn of_step(
        connection: C,
        known: &Known,
        answer_within: Duration,
    ) -> Result<Self> {
        let session = Self::begin(connection, known, true, answer_within).await?;
        Ok(Self { owner: Owner::Step, ..session })
    }

    pub(crate) fn new(connection: C, begun: Begun, locks: bool) -> Self {
        let Begun { now, catalog, has_waits, settings } = begun;
        let (owner, last_seqs) = (Owner::Engine, HashMap::new());
        // Who waits for the application's own transaction is the application.
        let answer_within = Duration::MAX;
        Self {
            connection,
            now,
            catalog,
            has_waits,
            locks,
            owner,
            settings,
            answer_within,
            last_seqs,
        }
    }

    /// As it began, but what it loads is locked.
    pub(crate) fn locking(self) -> Self {
        Self { locks: true, last_seqs: HashMap::new(), ..self }
    }

    pub(crate) fn connection(&mut self) -> &mut MySqlConnection {
        &mut self.connection
    }

    pub(crate) fn into_connection(self) -> C {
        self.connection
    }

    /// Whether what was seen before a lock may be older than the lock.
    pub(crate) fn may_see_the_past(&self) -> bool {
        self.owner == Owner::Application
    }

    /// What payloads go through.
    pub(crate) fn limits(&self) -> Limits {
        self.settings.limits()
    }

    /// Rows as parameters of the session's size.
    pub(crate) fn json_parts<T: Serialize>(&self, rows: &[T]) -> Result<Vec<String>> {
        json_parts(rows, self.settings.most_bytes())
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
            Error::Sqlx(error) if self.owner == Owner::Step => not_recorded(error).into(),
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

    async fn weights(&mut self, run: RunId) -> Stored<HashMap<Payload, usize>> {
        answered!(self, payloads::weights(self, run))
    }

    async fn write(&mut self, rows: &Rows, writes: Writes<'_>) -> Stored<()> {
        answered!(self, write::write(self, rows, writes))
    }

    async fn drop_task_holds(&mut self, attempts: &[(TaskRef, u32)]) -> Stored<BTreeSet<String>> {
        answered!(self, pipelines::drop_task_holds(self, attempts))
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

    async fn outputs(
        &mut self,
        run: RunId,
        step: &str,
        first: u32,
        bytes: u32,
    ) -> Stored<Vec<Value>> {
        answered!(self, payloads::outputs(self, run, step, first, bytes))
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
    async fn job_depths(&mut self, most: u64) -> Stored<JobDepths> {
        answered!(self, jobs::depths(self, most))
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

    async fn pause_needs(&mut self, needs: &[String], by: &str) -> Stored<u64> {
        answered!(self, jobs::pause(self, needs, by))
    }

    async fn resume_needs(&mut self, needs: &[String]) -> Stored<u64> {
        answered!(self, jobs::resume(self, needs))
    }

    async fn paused_needs(&mut self) -> Stored<Vec<PausedNeed>> {
        answered!(self, jobs::paused(self))
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

    async fn ready_jobs(&mut self, needs: &[String], max: u32) -> Stored<Vec<ReadyJob>> {
        answered!(self, jobs::ready(self, needs, max))
    }

    async fn due_jobs(&mut self, needs: &[String], max: u32) -> Stored<Vec<JobId>> {
        answered!(self, jobs::due(self, needs, max))
    }

    async fn lapsed_jobs(&mut self, needs: Option<&[String]>, max: u32) -> Stored<Vec<JobId>> {
        answered!(self, jobs::lapsed(self, needs, max))
    }

    async fn misjudged_jobs(&mut self, threshold: u32, max: u32) -> Stored<Vec<JobId>> {
        answered!(self, jobs::misjudged(self, threshold, max))
    }

    async fn waiting_pairs(&mut self, max: u32) -> Stored<Vec<(JobId, JobId)>> {
        answered!(self, jobs::waiting_pairs(self, max))
    }

    async fn awaited_runs(&mut self, version: &Version) -> Stored<Vec<RunId>> {
        answered!(self, jobs::awaited_runs(self, version))
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

    async fn job_trace_end(&mut self, id: &JobId, max: u32) -> Stored<Vec<JobEvent>> {
        answered!(self, jobs::trace_end(self, id, max))
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

impl<C: DerefMut<Target = MySqlConnection> + Send> WaitSession for MySqlSession<C> {
    async fn open_waits(&mut self, opened: &[OpenWait]) -> Stored<()> {
        answered!(self, waits::open(self, opened))
    }

    async fn load_wait(&mut self, task: &TaskKey) -> Stored<Option<WaitRow>> {
        answered!(self, waits::load(self, task))
    }

    async fn load_children(&mut self, task: &TaskKey, attempt: u32) -> Stored<Vec<Child>> {
        answered!(self, waits::of(self, task, attempt))
    }

    async fn glance(&mut self, task: &TaskKey, attempt: u32) -> Stored<Glance> {
        answered!(self, waits::glance(self, task, attempt))
    }

    async fn close_waits(&mut self, of: WaitsOf<'_>, reason: &str) -> Stored<u64> {
        answered!(self, waits::close(self, of, reason))
    }

    async fn due_waits(&mut self, max: u32) -> Stored<Vec<TaskKey>> {
        answered!(self, waits::due(self, max))
    }

    async fn next_wait(&mut self) -> Stored<Option<Timestamp>> {
        answered!(self, waits::next(self))
    }

    async fn note_ends(&mut self, ends: &[(Dependency, ChildEnd)]) -> Stored<u64> {
        answered!(self, waits::note_ends(self, ends))
    }

    async fn replace_ends(&mut self, ends: &[(Dependency, ChildEnd)]) -> Stored<()> {
        answered!(self, waits::replace_ends(self, ends))
    }

    async fn tied_runs(&mut self, version: &Version) -> Stored<Vec<(RunId, Ties)>> {
        answered!(self, waits::tied_runs(self, version))
    }

    async fn mark_seen(&mut self, task: &TaskKey) -> Stored<()> {
        answered!(self, waits::mark_seen(self, task))
    }

    async fn orphans(&mut self, max: u32) -> Stored<Vec<Orphan>> {
        answered!(self, waits::orphans(self, max))
    }

    async fn is_awaited(&mut self, child: &Dependency) -> Stored<bool> {
        answered!(self, waits::is_awaited(self, child))
    }

    async fn forget_orphan(&mut self, child: &Dependency) -> Stored<()> {
        answered!(self, waits::forget(self, child))
    }

    async fn find_hook(&mut self, token: &HookToken) -> Stored<Option<TaskKey>> {
        answered!(self, waits::find_hook(self, token))
    }

    async fn lock_hook(&mut self, token: &HookToken) -> Stored<Option<TaskKey>> {
        answered!(self, waits::lock_hook(self, token))
    }

    async fn set_hook(&mut self, token: &HookToken, task: &TaskKey) -> Stored<()> {
        answered!(self, waits::set_hook(self, token, task))
    }

    async fn announced(&mut self, task: &TaskKey) -> Stored<Option<HookToken>> {
        answered!(self, waits::announced(self, task))
    }

    async fn find_signal(&mut self, target: &str, resume_id: &str) -> Stored<Option<SignalFound>> {
        answered!(self, waits::find_signal(self, target, resume_id))
    }

    async fn put_signal(&mut self, signal: SignalRow<'_>) -> Stored<()> {
        answered!(self, waits::put_signal(self, signal))
    }

    async fn kept_signals(&mut self, target: &str) -> Stored<Vec<i64>> {
        answered!(self, waits::kept_signals(self, target))
    }

    async fn kept_payload(&mut self, signal: i64) -> Stored<Value> {
        answered!(self, waits::kept_payload(self, signal))
    }

    async fn use_signal(&mut self, signal: i64, run: RunId) -> Stored<()> {
        answered!(self, waits::use_signal(self, signal, run))
    }

    async fn drop_signal(&mut self, signal: i64) -> Stored<()> {
        answered!(self, waits::drop_signal(self, signal))
    }

    async fn expire_signals(&mut self, max: u32) -> Stored<u64> {
        answered!(self, waits::expire_signals(self, max))
    }

    async fn late_waits(&mut self, until: Timestamp, max: u32) -> Stored<(u64, Option<Timestamp>)> {
        answered!(self, waits::late(self, until, max))
    }

    async fn list_waits(&mut self, query: &WaitQuery) -> Stored<Vec<WaitRecord>> {
        answered!(self, waits::list(self, query))
    }
}

impl<C: DerefMut<Target = MySqlConnection> + Send> ScheduleSession for MySqlSession<C> {
    async fn load_schedule(&mut self, name: &str) -> Stored<Option<Schedule>> {
        answered!(self, schedules::load(self, name))
    }

    async fn write_schedule(&mut self, schedule: &Schedule, is_new: bool) -> Stored<()> {
        answered!(self, schedules::write(self, schedule, is_new))
    }

    async fn delete_schedule(&mut self, name: &str) -> Stored<()> {
        answered!(self, schedules::delete(self, name))
    }

    async fn list_schedules(&mut self, query: &ScheduleQuery) -> Stored<Vec<Schedule>> {
        answered!(self, schedules::list(self, query))
    }

    async fn due_schedules(&mut self, query: &DueQuery) -> Stored<DueSchedules> {
        answered!(self, schedules::due(self, query))
    }
}

impl<C: DerefMut<Target = MySqlConnection> + Send> PipelineSession for MySqlSession<C> {
    async fn tick(&mut self) -> Stored<()> {
        if !self.locks {
            return Ok(());
        }
        self.now = answered!(self, pipelines::time(self))?;
        Ok(())
    }

    async fn load_permits(
        &mut self,
        keys: &BTreeSet<PermitKey>,
    ) -> Stored<BTreeMap<PermitKey, Value>> {
        answered!(self, pipelines::permits(self, keys))
    }

    async fn message(&mut self, id: &JobId) -> Stored<Option<MessageRow>> {
        answered!(self, pipelines::kept(self, id))
    }

    async fn drop_turns(&mut self, queue: &str, max: u32) -> Stored<u64> {
        answered!(self, pipelines::drop_turns(self, queue, max))
    }

    async fn permits_of(&mut self, kind: PermitKind) -> Stored<BTreeMap<String, Value>> {
        answered!(self, pipelines::permits_of(self, kind))
    }

    async fn write_permits(&mut self, rows: &BTreeMap<PermitKey, Value>) -> Stored<()> {
        answered!(self, pipelines::write_permits(self, rows))
    }

    async fn load_holds(&mut self, resources: &BTreeSet<String>) -> Stored<Vec<Hold>> {
        answered!(self, pipelines::holds(self, resources))
    }

    async fn add_holds(&mut self, holds: &[Hold]) -> Stored<()> {
        answered!(self, pipelines::add_holds(self, holds))
    }

    async fn add_task_holds(&mut self, holds: &[TaskHold]) -> Stored<()> {
        answered!(self, pipelines::add_task_holds(self, holds))
    }

    async fn drop_holds(&mut self, tokens: &[JobToken]) -> Stored<BTreeSet<String>> {
        answered!(self, pipelines::drop_holds(self, tokens))
    }

    async fn waiting(
        &mut self,
        need: &str,
        after: Option<(i32, i64)>,
        max: u32,
    ) -> Stored<Vec<Waiting>> {
        answered!(self, pipelines::waiting(self, need, after, max))
    }

    async fn depth(&mut self, need: &str, most: u64) -> Stored<u64> {
        answered!(self, pipelines::depth(self, need, most))
    }

    async fn waiting_of(
        &mut self,
        need: &str,
        keys: &[String],
        after: Option<Place>,
        max: u32,
    ) -> Stored<Vec<Waiting>> {
        answered!(self, pipelines::waiting_of(self, need, keys, after, max))
    }

    async fn next_change(&mut self, need: &str) -> Stored<Option<Timestamp>> {
        answered!(self, pipelines::next_change(self, need))
    }

    async fn write_messages(&mut self, rows: &BTreeMap<JobId, MessageRow>) -> Stored<()> {
        answered!(self, pipelines::write_messages(self, rows))
    }

    async fn defer_messages(&mut self, until: &BTreeMap<JobId, Timestamp>) -> Stored<()> {
        answered!(self, pipelines::defer(self, until))
    }

    async fn drop_messages(&mut self, messages: &[JobId]) -> Stored<()> {
        answered!(self, pipelines::drop_messages(self, messages))
    }

    async fn forget_dead(&mut self, jobs: &[JobId]) -> Stored<u64> {
        answered!(self, pipelines::forget_dead(self, jobs))
    }
}
