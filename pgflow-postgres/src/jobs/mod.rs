//! Jobs in Postgres: the contract, kept by the functions of the SQL core.

mod arrays;
mod claim;
mod operate;
mod problem;
mod read;
mod ready;
mod row;
mod settle;
mod submit;
mod submit_in;
mod transaction;
mod trip;

use std::time::Duration;

use pgflow_machine::job::{
    ConcernCleared, JobBeat, JobCancelled, JobClaim, JobHold, JobId, JobProblem, JobSettings,
    JobSettle, JobSettled, NewJob, Operated, Redriven, Submitted, Unheld, check_name,
};

pub(crate) use arrays::{Columns as NewColumns, seconds};
pub(crate) use claim::claimed;
pub(crate) use problem::Problem;
pub(crate) use ready::{ready_needs, ready_of};
pub(crate) use row::{job_state, summary, summary_columns};
pub(super) use settle::fork;
pub(crate) use settle::{Columns as SettleColumns, Ending, first_once, outcome, waits_for_nothing};
pub(crate) use submit::{outcome as submitted, statement as submit};
pub use submit_in::submit_in;

use super::open::Postgres;
use pgflow_backend::backend::{
    BackendError, ClaimedJobs, JobEvent, JobQuery, JobRecord, JobStanding, JobSummary, Jobs,
    JobsSwept, Reply, Settlement, Trip,
};
use pgflow_backend::tx::StepTx;

impl Jobs for Postgres {
    fn submit_jobs<'a>(
        &'a self,
        jobs: &'a [NewJob],
        by: &'a str,
    ) -> Reply<'a, Vec<Result<Submitted, JobProblem>>> {
        Box::pin(self.submit_new(jobs, by))
    }

    fn claim_jobs<'a>(&'a self, claim: &'a JobClaim) -> Reply<'a, ClaimedJobs> {
        Box::pin(self.take_jobs(claim))
    }

    fn beat_jobs<'a>(&'a self, holds: &'a [JobHold], lease: Duration) -> Reply<'a, Vec<JobBeat>> {
        Box::pin(self.beat_for_jobs(holds, lease))
    }

    fn settle_jobs<'a>(
        &'a self,
        settles: &'a [JobSettle],
        by: &'a str,
    ) -> Reply<'a, Vec<JobSettled>> {
        Box::pin(self.settle_attempts(settles, by))
    }

    fn settle_and_claim<'a>(&'a self, trip: &'a Trip<'a>) -> Reply<'a, Settlement> {
        Box::pin(self.exchange(trip))
    }

    fn begin_job<'a>(&'a self, hold: &'a JobHold) -> Reply<'a, Option<StepTx>> {
        Box::pin(self.begin_holding(std::slice::from_ref(hold)))
    }

    fn commit_job<'a>(
        &'a self,
        tx: StepTx,
        settle: &'a JobSettle,
        by: &'a str,
    ) -> Reply<'a, JobSettled> {
        Box::pin(self.commit_need(tx, settle, by))
    }

    fn cancel_jobs<'a>(
        &'a self,
        jobs: &'a [JobId],
        by: &'a str,
        reason: Option<&'a str>,
    ) -> Reply<'a, Vec<JobCancelled>> {
        Box::pin(self.cancel_all(jobs, by, reason))
    }

    fn clear_concern<'a>(
        &'a self,
        jobs: &'a [JobId],
        by: &'a str,
    ) -> Reply<'a, Vec<ConcernCleared>> {
        Box::pin(self.clear(jobs, by))
    }

    fn operate<'a>(&'a self, job: &'a JobId, by: &'a str, act: &'a Unheld) -> Reply<'a, Operated> {
        Box::pin(self.operate_on(job, by, act))
    }

    fn redrive_jobs<'a>(
        &'a self,
        jobs: &'a [JobId],
        by: &'a str,
        spacing: Duration,
    ) -> Reply<'a, Vec<Redriven>> {
        Box::pin(self.redrive(jobs, by, spacing))
    }

    fn job<'a>(&'a self, id: &'a JobId) -> Reply<'a, Option<JobRecord>> {
        Box::pin(self.read_job(id))
    }

    fn job_standings<'a>(&'a self, ids: &'a [JobId]) -> Reply<'a, Vec<(JobId, JobStanding)>> {
        Box::pin(self.read_standings(ids))
    }

    fn list_jobs<'a>(&'a self, query: &'a JobQuery) -> Reply<'a, Vec<JobSummary>> {
        Box::pin(self.list_summaries(query))
    }

    fn job_trace<'a>(&'a self, id: &'a JobId, after: u64, max: u32) -> Reply<'a, Vec<JobEvent>> {
        Box::pin(self.read_trace(id, after, max))
    }

    fn job_trace_end<'a>(&'a self, id: &'a JobId, max: u32) -> Reply<'a, Vec<JobEvent>> {
        Box::pin(self.read_trace_end(id, max))
    }

    fn release_unknown_jobs<'a>(&'a self, worker: &'a str, known: &'a [JobHold]) -> Reply<'a, u64> {
        Box::pin(self.give_back_unknown(worker, known))
    }

    fn sweep_jobs(&self) -> Reply<'_, JobsSwept> {
        Box::pin(self.sweep_all_jobs())
    }

    fn prune_jobs(&self, older_than: Duration, max: u32) -> Reply<'_, u64> {
        Box::pin(self.forget_jobs(older_than, max))
    }

    fn job_settings(&self) -> Reply<'_, JobSettings> {
        Box::pin(self.read_settings())
    }

    fn set_job_settings(&self, settings: JobSettings) -> Reply<'_, ()> {
        Box::pin(self.change_settings(settings))
    }
}

/// A caller's name is kept, so it has to be one.
pub(crate) fn check_caller(by: &str) -> Result<(), BackendError> {
    check_name(by).map_err(|why| JobProblem::Name { what: "caller", why }.into())
}
