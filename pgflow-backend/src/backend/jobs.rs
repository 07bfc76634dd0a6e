//! Jobs: the part of the contract about work that decides its own way.

use std::time::Duration;

use pgflow_machine::Timestamp;
use pgflow_machine::job::{
    ConcernCleared, JobBeat, JobCancelled, JobClaim, JobHold, JobId, JobOutcome, JobProblem,
    JobRow, JobSettings, JobSettle, JobSettled, JobStatus, JobToken, Lapses, NewJob, Operated,
    Redriven, Submitted, TakenJob, TraceKind, Unheld, Wait,
};
use serde_json::Value;

use super::{Reply, Settlement, Trip};
use crate::tx::StepTx;

/// A database that keeps jobs. Every method is one transaction, or one per batch where it says so; arrays in, one answer
/// per item, in their order. A repeated call leads to the same state: the token says so.
///
/// ```
/// use pgflow_machine::job::NewJob;
/// use pgflow_backend::backend::{Backend, JobStanding};
/// use pgflow_backend::memory::Memory;
///
/// # pgflow::testing::block_on(async {
/// let memory = Memory::new();
/// let jobs = memory.jobs()?;
/// let job = NewJob::new("inv-42".parse().unwrap(), "invoice.ingest", 7);
/// jobs.submit_jobs(&[job.clone()], "billing").await?;
/// let found = jobs.job(&job.id).await?.expect("it is there");
/// assert_eq!(found.summary.standing.to_string(), "READY");
/// # Ok::<(), pgflow_backend::backend::BackendError>(())
/// # }).unwrap();
/// ```
pub trait Jobs: Send + Sync {
    /// Submits jobs. One that is refused does not keep the others out.
    fn submit_jobs<'a>(
        &'a self,
        jobs: &'a [NewJob],
        by: &'a str,
    ) -> Reply<'a, Vec<Result<Submitted, JobProblem>>>;

    /// Leases jobs to a worker, the first in line first. Leases that have lapsed are counted and taken too.
    fn claim_jobs<'a>(&'a self, claim: &'a JobClaim) -> Reply<'a, ClaimedJobs>;

    /// Says that jobs are still being worked on: their leases last so long from now.
    fn beat_jobs<'a>(&'a self, holds: &'a [JobHold], lease: Duration) -> Reply<'a, Vec<JobBeat>>;

    /// Settles attempts, in this order: finish, fail, hand over, release.
    fn settle_jobs<'a>(
        &'a self,
        settles: &'a [JobSettle],
        by: &'a str,
    ) -> Reply<'a, Vec<JobSettled>>;

    /// A worker's trip: settles attempts at tasks and at jobs, and claims more of both, in one transaction as far as the database
    /// can. An end of a job that cannot be is a failure instead, with the reason. There is an outcome per settle, in their order.
    fn settle_and_claim<'a>(&'a self, trip: &'a Trip<'a>) -> Reply<'a, Settlement>;

    /// Opens the transaction that a need with `tx` runs in, if the lease holds and the job is not cancelled.
    fn begin_job<'a>(&'a self, hold: &'a JobHold) -> Reply<'a, Option<StepTx>>;

    /// Records the end of an attempt in its transaction, and commits if it took effect; otherwise all that was written in it is
    /// undone.
    fn commit_job<'a>(
        &'a self,
        tx: StepTx,
        settle: &'a JobSettle,
        by: &'a str,
    ) -> Reply<'a, JobSettled>;

    /// Cancels jobs. One that a worker has may still finish.
    fn cancel_jobs<'a>(
        &'a self,
        jobs: &'a [JobId],
        by: &'a str,
        reason: Option<&'a str>,
    ) -> Reply<'a, Vec<JobCancelled>>;

    /// Lets jobs go on that have lost too many workers in a row.
    fn clear_concern<'a>(
        &'a self,
        jobs: &'a [JobId],
        by: &'a str,
    ) -> Reply<'a, Vec<ConcernCleared>>;

    /// Completes or reschedules a job that nobody has.
    fn operate<'a>(&'a self, job: &'a JobId, by: &'a str, act: &'a Unheld) -> Reply<'a, Operated>;

    /// Opens failed and crashed jobs again, each so much later than the one before.
    fn redrive_jobs<'a>(
        &'a self,
        jobs: &'a [JobId],
        by: &'a str,
        spacing: Duration,
    ) -> Reply<'a, Vec<Redriven>>;

    /// A job, live or archived, with its payloads.
    fn job<'a>(&'a self, id: &'a JobId) -> Reply<'a, Option<JobRecord>>;

    /// Where jobs stand, live or archived, without anything that they carry. Unknown ones are left out.
    fn job_standings<'a>(&'a self, ids: &'a [JobId]) -> Reply<'a, Vec<(JobId, JobStanding)>>;

    /// Jobs by their places in line, without payloads.
    fn list_jobs<'a>(&'a self, query: &'a JobQuery) -> Reply<'a, Vec<JobSummary>>;

    /// Up to `max` lines of a job's trace after number `after`, in order.
    fn job_trace<'a>(&'a self, id: &'a JobId, after: u64, max: u32) -> Reply<'a, Vec<JobEvent>>;

    /// The last `max` lines of it, in order.
    fn job_trace_end<'a>(&'a self, id: &'a JobId, max: u32) -> Reply<'a, Vec<JobEvent>>;

    /// Gives back, uncounted, what the database says this worker holds and the worker does not know of: jobs of a claim whose
    /// answer got lost. Returns how many there were. Not while a claim of the same worker is under way.
    fn release_unknown_jobs<'a>(&'a self, worker: &'a str, known: &'a [JobHold]) -> Reply<'a, u64>;

    /// Counts lapsed leases, also of needs that nobody polls, ends what has expired, and reports jobs that wait for themselves, and those in
    /// concern: in batches. Any process may call it at any time.
    fn sweep_jobs(&self) -> Reply<'_, JobsSwept>;

    /// Forgets up to `max` jobs that ended longer ago than this, with their traces, and says how many. Their names may be used
    /// again.
    fn prune_jobs(&self, older_than: Duration, max: u32) -> Reply<'_, u64>;

    /// What all jobs go by.
    fn job_settings(&self) -> Reply<'_, JobSettings>;

    /// Changes that, for all processes.
    fn set_job_settings(&self, settings: JobSettings) -> Reply<'_, ()>;
}

/// What a worker got.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClaimedJobs {
    /// Jobs, each leased to this worker, the first in line first.
    pub jobs: Vec<ClaimedJob>,
    /// When the next of these needs may be had, if that is known: a sleeper wakes, or a lease lapses.
    pub next_in: Option<Duration>,
}

/// A job that a worker has.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimedJob {
    /// The job, its token and its row.
    pub taken: TakenJob,
    /// What it is about.
    pub payload: Value,
}

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobStanding {
    /// It is live.
    Live(JobStatus),
    /// It has ended.
    Ended(JobOutcome),
}

impl std::fmt::Display for JobStanding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Live(status) => status.fmt(f),
            Self::Ended(outcome) => outcome.fmt(f),
        }
    }
}

/// A job without its payloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobSummary {
    /// Its name.
    pub id: JobId,
    /// Where it stands.
    pub standing: JobStanding,
    /// Its row, as it is or was.
    pub row: JobRow,
    /// What its last failed attempt failed with, or why it ended.
    pub error: Option<String>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

/// A job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRecord {
    /// All but its payloads.
    pub summary: JobSummary,
    /// What it is about.
    pub payload: Value,
    /// What it put out, if it is done.
    pub output: Option<Value>,
    /// What it waits for, by kind and name.
    pub waits_for: Vec<Wait>,
}

/// Which jobs to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobQuery {
    /// Live ones, or those that ended.
    pub of: JobsOf,
    /// Only of this need.
    pub need: Option<String>,
    /// Only those after this place in line: the last of the page before.
    pub after: Option<i64>,
    /// At most so many.
    pub max: u32,
}

/// Live jobs, or those that ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JobsOf {
    /// Live ones.
    #[default]
    Live,
    /// All that ended.
    Ended,
    /// Those that ended like this.
    EndedAs(JobOutcome),
}

/// A line of a job's trace.
#[derive(Clone, Debug, PartialEq)]
pub struct JobEvent {
    /// Its number: later ones are greater.
    pub number: u64,
    /// When it was written.
    pub at: Timestamp,
    /// What happened.
    pub kind: TraceKind,
    /// Who did it, if it was somebody.
    pub by: Option<String>,
    /// The lease that it was done with.
    pub token: Option<JobToken>,
    /// What the rest does not say.
    pub detail: Option<Value>,
}

/// What a sweep did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobsSwept {
    /// Leases that had lapsed, and what became of their jobs.
    pub lapses: Lapses,
    /// Jobs that ended because their time was over.
    pub expired: u64,
    /// Jobs that wait for themselves, through others, as far as a sweep looks: only people know which of them should not.
    pub rings: Vec<JobId>,
    /// Jobs that have lost too many workers in a row, whoever set them aside: the last hundred of them, the last first. Only people know
    /// whether they may go on.
    pub in_concern: Vec<JobId>,
}
