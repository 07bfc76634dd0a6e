//! What a check works with.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pgflow_machine::job::Seq;
use pgflow_machine::{Beat, RunId, Settle, Settled, TaskLease, Verdict, WorkerId};
use pgflow_model::{FlowMigration, FlowMigrations, FlowShape, Operation, StepOptions, StepShape};
use pgflow_runtime::backend::{
    Backend, Claim, ClaimedTask, Ensured, FlowVersion, JobQuery, NewRun, Settlement, Source,
    Started,
};
use serde_json::Value;

use super::Run;
use crate::subject::{Database, Guard};

/// More than any check has.
const ALL: u32 = 1_000_000;

/// A database, and names that no other check uses.
pub struct Cx {
    database: Box<dyn Database>,
    prefix: String,
    names: AtomicU32,
    runs: Mutex<Vec<RunId>>,
    long: bool,
    worker: WorkerId,
    uses_jobs: AtomicBool,
}

impl std::fmt::Debug for Cx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cx").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

impl Cx {
    pub(crate) fn new(database: Box<dyn Database>, check: &str, long: bool) -> Self {
        let nonce = uuid::Uuid::now_v7().as_u128() >> 48 & 0xffff_ffff;
        let random = uuid::Uuid::now_v7().as_u128() & 0xffff;
        let prefix = format!("{}_{nonce:x}{random:x}", check.to_lowercase());
        let (names, runs) = (AtomicU32::new(0), Mutex::default());
        let uses_jobs = AtomicBool::new(false);
        Self { database, prefix, names, runs, long, worker: WorkerId::new(), uses_jobs }
    }

    pub(crate) fn database(&self) -> &dyn Database {
        &*self.database
    }

    pub(crate) fn backend(&self) -> Arc<dyn Backend> {
        self.database.backend()
    }

    /// A connection of its own, as another process has.
    pub(crate) async fn another(&self) -> Arc<dyn Backend> {
        self.database.another().await
    }

    /// A connection that cannot write while the guard lives.
    pub(crate) async fn refusing(&self) -> (Arc<dyn Backend>, Guard) {
        let refusing = self.database.refusing().await;
        refusing.expect("what several processes write, one can be kept from writing")
    }

    /// This many rounds, or as many as the specification asks for.
    pub(crate) fn rounds(&self, short: usize, long: usize) -> usize {
        if self.long { long } else { short }
    }

    /// Names of flows that only this check uses.
    pub(crate) fn name(&self) -> String {
        format!("{}_{}", self.prefix, self.names.fetch_add(1, Ordering::Relaxed))
    }

    /// A flow of these steps, with options of 3 attempts, no delay and 100 s.
    pub(crate) async fn flow(&self, steps: impl IntoIterator<Item = StepShape>) -> String {
        self.flow_with(super::options(3, 0, 100), steps).await
    }

    pub(crate) async fn flow_with(
        &self,
        options: StepOptions,
        steps: impl IntoIterator<Item = StepShape>,
    ) -> String {
        let slug = self.name();
        let shape =
            FlowShape { options, steps: steps.into_iter().collect(), ..FlowShape::new(&slug) };
        let version = FlowVersion { flow: slug.clone(), version: 1, slug: slug.clone(), shape };
        let ensured = self.backend().ensure_flow(&version).await.expect("a flow can be registered");
        assert_eq!(ensured, Ensured::Created, "flow {slug} is new");
        slug
    }

    /// Does something to versions of flows, as a migration of a program does.
    pub(crate) async fn migrate(&self, operation: Operation) {
        let operations = [operation];
        // Programs have their migrations for good.
        let files = vec![FlowMigration {
            name: "one",
            checksum: "one",
            sql: operations[0].to_sql().leak(),
            operations_json: Operation::list_to_json(&operations).leak(),
        }];
        let package = format!("package_{}", RunId::new()).leak();
        let migrations = FlowMigrations { package, files: files.leak(), notes: None };
        self.backend().apply(&migrations).await.expect("a version can be changed");
    }

    /// Deletes a version of a flow with its runs.
    pub(crate) async fn delete_version(&self, flow: &str) {
        self.migrate(Operation::DeleteVersion { slug: flow.to_owned() }).await;
    }

    /// A new run.
    pub(crate) async fn start(self: &Arc<Self>, flow: &str, input: impl Into<Value>) -> Run {
        let run = NewRun::new(flow, input, RunId::new());
        let id = run.id;
        assert_eq!(self.try_start(run).await.expect("a run can be started"), Started::Created);
        Run { cx: Arc::clone(self), flow: flow.into(), id }
    }

    /// A run of any id. Its log is looked at in the end.
    pub(crate) async fn try_start(
        &self,
        run: NewRun,
    ) -> Result<Started, pgflow_runtime::backend::BackendError> {
        let id = run.id;
        let started = self.backend().start(run).await?;
        self.remember(id);
        Ok(started)
    }

    pub(crate) fn remember(&self, run: RunId) {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).push(run);
    }

    pub(crate) fn runs(&self) -> Vec<RunId> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Everything that can be had of a flow now, in order.
    pub(crate) async fn claim(&self, flow: &str) -> Vec<ClaimedTask> {
        self.claim_as(&self.wish(flow, ALL)).await
    }

    pub(crate) async fn claim_as(&self, claim: &Claim) -> Vec<ClaimedTask> {
        let mut tasks = self.backend().claim(claim).await.expect("work can be claimed").tasks;
        tasks.sort_by(|one, other| one.lease.cmp(&other.lease));
        tasks
    }

    /// A claim of up to `max` tasks of a flow.
    pub(crate) fn wish(&self, flow: &str, max: u32) -> Claim {
        Claim::of_queues([flow], max, self.worker)
    }

    pub(crate) async fn settle(&self, lease: &TaskLease, verdict: Verdict) -> Settled {
        let outcomes = self.settle_all(vec![Settle { lease: lease.clone().into(), verdict }]).await;
        assert_eq!(outcomes.len(), 1, "one settle has one outcome");
        outcomes[0]
    }

    pub(crate) async fn settle_all(&self, settles: Vec<Settle>) -> Vec<Settled> {
        self.work(&settles, None).await.settled
    }

    pub(crate) async fn work(&self, settles: &[Settle], next: Option<&Claim>) -> Settlement {
        let work = self.backend().settle(settles, next).await.expect("attempts can be settled");
        assert_eq!(work.settled.len(), settles.len(), "there is one outcome per settle");
        work
    }

    pub(crate) async fn beat(&self, leases: &[&TaskLease]) -> Vec<Beat> {
        let leases: Vec<_> = leases.iter().map(|lease| (*lease).clone().into()).collect();
        let beats = self.backend().heartbeat(&leases).await.expect("heartbeats are answered");
        assert_eq!(beats.len(), leases.len(), "there is one answer per lease");
        beats
    }

    pub(crate) async fn sweep(&self) -> u64 {
        self.backend().sweep().await.expect("lost tasks can be swept").requeued
    }

    /// What came back of what this worker holds of a flow and does not know of.
    pub(crate) async fn release_unknown(&self, flow: &str, known: &[&TaskLease]) -> u64 {
        let known: Vec<_> = known.iter().map(|lease| (*lease).clone().into()).collect();
        let sources = [Source::queue(flow)];
        let released = self.backend().release_unknown(self.worker, &sources, &known).await;
        released.expect("unknown tasks can be given back")
    }

    pub(crate) async fn advance(&self, flow: &str, seconds: u64) {
        self.database.advance(flow, Duration::from_secs(seconds)).await;
    }

    /// As [`advance`](Self::advance), also for when runs and steps began and ended.
    pub(crate) async fn age(&self, flow: &str, seconds: u64) {
        self.database.age(flow, Duration::from_secs(seconds)).await;
    }

    /// Ends what is open, so that the next check on this database does not meet it.
    pub(crate) async fn end(&self) {
        for run in self.runs() {
            // A backend that failed its check may fail here too.
            let _ = self.backend().cancel(run, None).await;
        }
        if self.uses_jobs.load(Ordering::Relaxed) {
            self.end_jobs().await;
        }
    }

    /// This check has jobs, which have to end too.
    pub(crate) fn use_jobs(&self) {
        self.uses_jobs.store(true, Ordering::Relaxed);
    }

    /// Makes time pass for the jobs of this check.
    pub(crate) async fn advance_jobs(&self, by: Duration) {
        self.database.advance_jobs(&self.prefix, by).await;
    }

    async fn end_jobs(&self) {
        // What is leased can be ended at once when its lease is over.
        self.advance_jobs(Duration::from_hours(1)).await;
        let backend = self.backend();
        let Ok(jobs) = backend.jobs() else { return };
        let mut query = JobQuery { max: 1000, ..JobQuery::default() };
        while let Ok(found) = jobs.list_jobs(&query).await {
            let Some(last) = found.last() else { return };
            query.after = match last.row.seq {
                Seq::Given(seq) => Some(seq),
                Seq::New(_) => return,
            };
            let own = found.into_iter().filter(|job| job.id.as_str().starts_with(&self.prefix));
            let own: Vec<_> = own.map(|job| job.id).collect();
            // A backend that failed its check may fail here too.
            let _ = jobs.cancel_jobs(&own, "conformance", None).await;
        }
    }

    pub(crate) async fn violations(&self) -> Vec<String> {
        self.database.check().await
    }
}

/// Like `fetch#0`.
pub(crate) fn names(tasks: &[ClaimedTask]) -> Vec<String> {
    let name = |task: &ClaimedTask| format!("{}#{}", task.lease.task.step, task.lease.task.index);
    tasks.iter().map(name).collect()
}

/// The steps that tasks are of, each once.
pub(crate) fn steps_of(tasks: &[ClaimedTask]) -> Vec<&str> {
    let mut steps: Vec<_> = tasks.iter().map(|task| task.lease.task.step.as_str()).collect();
    steps.dedup();
    steps
}
