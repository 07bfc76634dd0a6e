//! Jobs of a backend that does almost what another one does.

use pgflow_machine::job::{
    ConcernCleared, JobBeat, JobCancelled, JobClaim, JobHold, JobId, JobProblem, JobRetry,
    JobSettings, JobSettle, JobSettled, JobVerdict, NewJob, Operated, Redriven, Submitted, Unheld,
};
use pgflow_test_support::contract_prelude::*;

use crate::backend::Faulty;
use crate::fault::Fault;

impl Faulty {
    fn inside(&self) -> &dyn Jobs {
        self.inner.jobs().expect("memory keeps jobs")
    }

    fn new_job(&self, job: &NewJob) -> NewJob {
        let mut job = job.clone();
        match self.fault {
            Fault::JobsHaveNoKeys => job.key = None,
            Fault::JobsWaitForNothing => job.after.clear(),
            Fault::JobsHaveOnePriority => job.priority = 0,
            Fault::JobsNeverExpire => job.expires = None,
            Fault::JobsNeverSleep => job.wake = None,
            _ => {}
        }
        job
    }

    fn settled_job(&self, settle: &JobSettle) -> JobSettle {
        let mut settle = settle.clone();
        match (self.fault, &settle.verdict) {
            (Fault::JobsHaveNoFence, _) => {
                let newest = self.newest_jobs.lock().expect("no panic");
                let newest = newest.get(&settle.hold.job).cloned();
                settle.hold = newest.unwrap_or(settle.hold);
            }
            (Fault::JobReleasesCount, JobVerdict::Released) => {
                let retry = JobRetry::After(Duration::ZERO);
                settle.verdict = JobVerdict::Failed { error: "released".into(), retry };
            }
            _ => {}
        }
        settle
    }
}

impl Jobs for Faulty {
    fn submit_jobs<'a>(
        &'a self,
        jobs: &'a [NewJob],
        by: &'a str,
    ) -> Reply<'a, Vec<Result<Submitted, JobProblem>>> {
        Box::pin(async move {
            let jobs: Vec<_> = jobs.iter().map(|job| self.new_job(job)).collect();
            let mut answers = self.inside().submit_jobs(&jobs, by).await?;
            if self.is(Fault::EveryJobIsNew) {
                answers.iter_mut().flatten().for_each(|answer| *answer = Submitted::Submitted);
            }
            Ok(answers)
        })
    }

    fn claim_jobs<'a>(&'a self, claim: &'a JobClaim) -> Reply<'a, ClaimedJobs> {
        Box::pin(async move {
            let claimed = self.inside().claim_jobs(claim).await?;
            let mut newest = self.newest_jobs.lock().expect("no panic");
            let holds = claimed.jobs.iter().map(|job| job.taken.hold.clone());
            newest.extend(holds.map(|hold| (hold.job.clone(), hold)));
            Ok(claimed)
        })
    }

    fn beat_jobs<'a>(&'a self, holds: &'a [JobHold], lease: Duration) -> Reply<'a, Vec<JobBeat>> {
        if self.is(Fault::JobBeatsAlwaysExtend) {
            return Box::pin(async { Ok(vec![JobBeat::Extended; holds.len()]) });
        }
        self.inside().beat_jobs(holds, lease)
    }

    fn settle_jobs<'a>(
        &'a self,
        settles: &'a [JobSettle],
        by: &'a str,
    ) -> Reply<'a, Vec<JobSettled>> {
        Box::pin(async move {
            if self.is(Fault::LosesJobSettles) {
                return Ok(vec![JobSettled::Applied; settles.len()]);
            }
            let settles: Vec<_> = settles.iter().map(|settle| self.settled_job(settle)).collect();
            self.inside().settle_jobs(&settles, by).await
        })
    }

    fn settle_and_claim<'a>(&'a self, trip: &'a Trip<'a>) -> Reply<'a, Settlement> {
        self.inside().settle_and_claim(trip)
    }

    fn begin_job<'a>(&'a self, hold: &'a JobHold) -> Reply<'a, Option<StepTx>> {
        self.inside().begin_job(hold)
    }

    fn commit_job<'a>(
        &'a self,
        tx: StepTx,
        settle: &'a JobSettle,
        by: &'a str,
    ) -> Reply<'a, JobSettled> {
        self.inside().commit_job(tx, settle, by)
    }

    fn cancel_jobs<'a>(
        &'a self,
        jobs: &'a [JobId],
        by: &'a str,
        reason: Option<&'a str>,
    ) -> Reply<'a, Vec<JobCancelled>> {
        if self.is(Fault::CancelsNoJob) {
            return Box::pin(async { Ok(vec![JobCancelled::Cancelled; jobs.len()]) });
        }
        self.inside().cancel_jobs(jobs, by, reason)
    }

    fn clear_concern<'a>(
        &'a self,
        jobs: &'a [JobId],
        by: &'a str,
    ) -> Reply<'a, Vec<ConcernCleared>> {
        if self.is(Fault::ClearsNoConcern) {
            return Box::pin(async { Ok(vec![ConcernCleared::Cleared; jobs.len()]) });
        }
        self.inside().clear_concern(jobs, by)
    }

    fn operate<'a>(&'a self, job: &'a JobId, by: &'a str, act: &'a Unheld) -> Reply<'a, Operated> {
        self.inside().operate(job, by, act)
    }

    fn redrive_jobs<'a>(
        &'a self,
        jobs: &'a [JobId],
        by: &'a str,
        spacing: Duration,
    ) -> Reply<'a, Vec<Redriven>> {
        let spacing = if self.is(Fault::RedrivesAtOnce) { Duration::ZERO } else { spacing };
        self.inside().redrive_jobs(jobs, by, spacing)
    }

    fn job<'a>(&'a self, id: &'a JobId) -> Reply<'a, Option<JobRecord>> {
        self.inside().job(id)
    }

    fn job_standings<'a>(&'a self, ids: &'a [JobId]) -> Reply<'a, Vec<(JobId, JobStanding)>> {
        self.inside().job_standings(ids)
    }

    fn list_jobs<'a>(&'a self, query: &'a JobQuery) -> Reply<'a, Vec<JobSummary>> {
        self.inside().list_jobs(query)
    }

    fn job_trace<'a>(&'a self, id: &'a JobId, after: u64, max: u32) -> Reply<'a, Vec<JobEvent>> {
        let after = if self.is(Fault::NoCursor) { 0 } else { after };
        self.inside().job_trace(id, after, max)
    }

    fn job_trace_end<'a>(&'a self, id: &'a JobId, max: u32) -> Reply<'a, Vec<JobEvent>> {
        self.inside().job_trace_end(id, max)
    }

    fn release_unknown_jobs<'a>(&'a self, worker: &'a str, known: &'a [JobHold]) -> Reply<'a, u64> {
        if self.is(Fault::KeepsUnknownJobs) {
            return Box::pin(async { Ok(0) });
        }
        self.inside().release_unknown_jobs(worker, known)
    }

    fn sweep_jobs(&self) -> Reply<'_, JobsSwept> {
        if self.is(Fault::NeverSweepsJobs) {
            return Box::pin(async { Ok(JobsSwept::default()) });
        }
        self.inside().sweep_jobs()
    }

    fn prune_jobs(&self, older_than: Duration, max: u32) -> Reply<'_, u64> {
        self.inside().prune_jobs(older_than, max)
    }

    fn job_settings(&self) -> Reply<'_, JobSettings> {
        self.inside().job_settings()
    }

    fn set_job_settings(&self, settings: JobSettings) -> Reply<'_, ()> {
        self.inside().set_job_settings(settings)
    }
}
