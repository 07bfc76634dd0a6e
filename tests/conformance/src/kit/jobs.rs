//! What checks of jobs are written with.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::job::{
    HandOver, JobBeat, JobCancelled, JobClaim, JobHold, JobId, JobProblem, JobRetry, JobSettle,
    JobSettled, JobVerdict, NewJob, Submitted, Wait,
};
use pgflow_runtime::backend::{
    Backend, ClaimedJob, ClaimedJobs, JobQuery, JobRecord, JobSearch, JobSummary, JobUpkeep, Jobs,
    JobsSwept, Wake, Wakes,
};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::Cx;

/// How long leases last here.
pub(crate) const LEASE: u64 = 60;

/// Jobs of a check: its names are like `a` in the check, and no other check's in the database.
pub(crate) struct JobKit {
    pub(crate) cx: Arc<Cx>,
    backend: Arc<dyn Backend>,
    prefix: String,
}

impl JobKit {
    pub(crate) fn new(cx: &Arc<Cx>) -> Self {
        cx.use_jobs();
        Self { cx: Arc::clone(cx), backend: cx.backend(), prefix: format!("{}.", cx.name()) }
    }

    /// The same on a connection of its own.
    pub(crate) async fn another(&self) -> Self {
        let (cx, prefix) = (Arc::clone(&self.cx), self.prefix.clone());
        Self { backend: self.cx.another().await, cx, prefix }
    }

    pub(crate) fn jobs(&self) -> &dyn Jobs {
        self.backend.jobs().expect("jobs, or the check does not apply")
    }

    /// A name of this check's own.
    pub(crate) fn name(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    pub(crate) fn id(&self, name: &str) -> JobId {
        self.name(name).parse().expect("a name")
    }

    /// The name without what makes it this check's own.
    pub(crate) fn short<'n>(&self, name: &'n str) -> &'n str {
        name.strip_prefix(&*self.prefix).unwrap_or(name)
    }

    pub(crate) fn job(&self, name: &str, need: &str) -> NewJob {
        NewJob::new(self.id(name), self.name(need), json!({ "of": name }))
    }

    pub(crate) fn keyed(&self, name: &str, need: &str, key: &str) -> NewJob {
        NewJob { key: Some(self.name(key)), ..self.job(name, need) }
    }

    pub(crate) fn after(&self, name: &str, need: &str, waits: &[Wait]) -> NewJob {
        NewJob { after: waits.to_vec(), ..self.job(name, need) }
    }

    pub(crate) fn on(&self, name: &str) -> Wait {
        Wait::job(self.id(name))
    }

    pub(crate) async fn submit(&self, jobs: &[NewJob]) {
        for answer in self.try_submit(jobs).await {
            assert_eq!(answer, Ok(Submitted::Submitted));
        }
    }

    pub(crate) async fn try_submit(&self, jobs: &[NewJob]) -> Vec<Result<Submitted, JobProblem>> {
        let answers = self.jobs().submit_jobs(jobs, "client").await.expect("jobs can be submitted");
        assert_eq!(answers.len(), jobs.len(), "there is one answer per job");
        answers
    }

    pub(crate) fn wish(&self, needs: &[&str], max: u32) -> JobClaim {
        let needs = needs.iter().map(|need| self.name(need)).collect();
        JobClaim { worker: "worker".into(), needs, lease: Duration::from_secs(LEASE), max }
    }

    pub(crate) async fn look(&self, needs: &[&str], max: u32) -> ClaimedJobs {
        let claim = self.wish(needs, max);
        self.jobs().claim_jobs(&claim).await.expect("jobs can be claimed")
    }

    pub(crate) async fn claim(&self, needs: &[&str], max: u32) -> Vec<ClaimedJob> {
        self.look(needs, max).await.jobs
    }

    /// Claims, and says what was had.
    pub(crate) async fn names(&self, needs: &[&str], max: u32) -> Vec<String> {
        let claimed = self.claim(needs, max).await;
        claimed.iter().map(|job| self.short(job.taken.hold.job.as_str()).to_owned()).collect()
    }

    /// Claims exactly this one.
    pub(crate) async fn take(&self, name: &str, need: &str) -> JobHold {
        let claimed = self.claim(&[need], 1).await;
        let [job] = &claimed[..] else { panic!("{name} can be had, and {claimed:?} was") };
        assert_eq!(self.short(job.taken.hold.job.as_str()), name);
        job.taken.hold.clone()
    }

    pub(crate) async fn settle(&self, hold: &JobHold, verdict: JobVerdict) -> JobSettled {
        let settles = [JobSettle::new(hold.clone(), verdict)];
        self.settle_all(&settles).await.remove(0)
    }

    pub(crate) async fn settle_all(&self, settles: &[JobSettle]) -> Vec<JobSettled> {
        let outcomes = self.jobs().settle_jobs(settles, "worker").await.expect("settles");
        assert_eq!(outcomes.len(), settles.len(), "there is one outcome per settle");
        outcomes
    }

    pub(crate) async fn finish(&self, hold: &JobHold) {
        assert_eq!(self.settle(hold, done()).await, JobSettled::Applied);
    }

    pub(crate) async fn finish_with(&self, hold: &JobHold, output: Value) {
        let settled = self.settle(hold, JobVerdict::Finished(output)).await;
        assert_eq!(settled, JobSettled::Applied);
    }

    pub(crate) async fn fail_for_good(&self, hold: &JobHold, error: &str) {
        let verdict = JobVerdict::Failed { error: error.into(), retry: JobRetry::Never };
        assert_eq!(self.settle(hold, verdict).await, JobSettled::Applied);
    }

    pub(crate) async fn beat(&self, holds: &[JobHold]) -> Vec<JobBeat> {
        let lease = Duration::from_secs(LEASE);
        self.jobs().beat_jobs(holds, lease).await.expect("beats are answered")
    }

    pub(crate) async fn cancel(&self, name: &str) -> JobCancelled {
        let jobs = [self.id(name)];
        let answers = self.jobs().cancel_jobs(&jobs, "me", Some("why not")).await;
        answers.expect("jobs can be cancelled")[0]
    }

    pub(crate) async fn sweep(&self) -> JobsSwept {
        self.jobs().sweep_jobs().await.expect("jobs can be swept")
    }

    pub(crate) async fn pass(&self, seconds: u64) {
        self.cx.advance_jobs(Duration::from_secs(seconds)).await;
    }

    pub(crate) async fn record(&self, name: &str) -> JobRecord {
        let record = self.jobs().job(&self.id(name)).await.expect("a job can be read");
        record.unwrap_or_else(|| panic!("job {name} is there"))
    }

    pub(crate) async fn list(&self, query: &JobQuery) -> Vec<String> {
        let found = self.jobs().list_jobs(query).await.expect("jobs can be listed");
        found.iter().map(|job| self.short(job.id.as_str()).to_owned()).collect()
    }

    pub(crate) fn upkeep(&self) -> &dyn JobUpkeep {
        self.backend.job_upkeep().expect("jobs, or the check does not apply")
    }

    pub(crate) async fn find(&self, search: &JobSearch) -> Vec<String> {
        self.shortened(&self.upkeep().find_jobs(search).await.expect("jobs can be found"))
    }

    pub(crate) fn shortened(&self, jobs: &[JobSummary]) -> Vec<String> {
        jobs.iter().map(|job| self.short(job.id.as_str()).to_owned()).collect()
    }

    /// What people see of a job: a status, or how it ended.
    pub(crate) async fn standing(&self, name: &str) -> String {
        self.record(name).await.summary.standing.to_string()
    }

    pub(crate) async fn expect(&self, standings: &[(&str, &str)]) {
        for (name, standing) in standings {
            assert_eq!(self.standing(name).await, *standing, "{name}");
        }
    }

    pub(crate) async fn trace(&self, name: &str) -> Vec<&'static str> {
        let events = self.jobs().job_trace(&self.id(name), 0, 1000).await.expect("a trace");
        events.iter().map(|event| event.kind.word()).collect()
    }
}

pub(crate) fn done() -> JobVerdict {
    JobVerdict::Finished(Value::from("out"))
}

pub(crate) fn failed(seconds: u64) -> JobVerdict {
    let retry = JobRetry::After(Duration::from_secs(seconds));
    JobVerdict::Failed { error: "no".into(), retry }
}

pub(crate) fn fatal_job() -> JobVerdict {
    JobVerdict::Failed { error: "never".into(), retry: JobRetry::Never }
}

pub(crate) fn hand_over(kit: &JobKit, need: &str, waits: &[Wait]) -> JobVerdict {
    JobVerdict::HandedOver(HandOver { after: waits.to_vec(), ..HandOver::to(kit.name(need)) })
}

/// Waits for this hint; or one about everything, where other processes say no more than that.
pub(crate) async fn hinted(cx: &Cx, wakes: &mut Wakes, wanted: &Wake) {
    let is_by_name = cx.backend().name() == "postgres";
    let wait = async {
        loop {
            match wakes.next().await {
                hint if hint == *wanted => return,
                Wake::Gap if !is_by_name => return,
                Wake::Gap | Wake::Topic(_) => {}
            }
        }
    };
    timeout(Duration::from_secs(20), wait).await.expect("a hint");
}
