//! Why a job does not move.

mod permits;
mod reason;

use std::collections::BTreeMap;

use pgflow_machine::Timestamp;
use pgflow_machine::job::{Dependency, JobId, JobOutcome, JobRow, JobState, JobStatus};
use pgflow_machine::permit::BatchRule;

pub use reason::{JobReason, JobWhy};

use crate::backend::{
    BackendError, JobRecord, JobSearch, JobStanding, JobSummary, PausedNeed, WorkerRecord,
};
use crate::client::ClientError;
use crate::db::Db;

/// Dependencies that are named; the others are counted.
const NAMED: usize = 5;

/// Jobs that are looked at to find a ring.
const WALK: usize = 100;

impl Db {
    /// Why a job does not move: what it waits for, or how it ended.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let db = Db::connect("memory:").await?;
    /// let job = db.submit_raw("human.review", serde_json::json!("case 7")).await?;
    /// let why = db.why_job(job.id()).await?;
    /// assert_eq!(why.reasons[0].code(), "no-worker");
    /// assert!(why.to_string().contains("no worker serves `human.review`"), "{why}");
    /// # Ok(()) })
    /// # }
    /// ```
    pub async fn why_job(&self, id: &JobId) -> Result<JobWhy, ClientError> {
        let record = self.job(id).record().await?;
        let now = self.now().await?;
        let JobSummary { standing, ref row, .. } = record.summary;
        let reasons = match standing {
            JobStanding::Ended(outcome) => {
                let at = record.summary.ended_at.unwrap_or_default();
                let asked = row.cancel.as_ref().and_then(|asked| asked.reason.clone());
                let error = record.summary.error.clone();
                // One that was redriven and cancelled has an error of before.
                let is_cancelled = outcome == JobOutcome::Cancelled;
                let why = if is_cancelled { asked.or(error) } else { error.or(asked) };
                vec![JobReason::Ended { outcome, at, why }]
            }
            JobStanding::Live(status) => self.why_live(&record, status, now).await?,
        };
        Ok(JobWhy { job: id.clone(), need: row.need.clone(), standing, now, reasons })
    }

    async fn why_live(
        &self,
        record: &JobRecord,
        status: JobStatus,
        now: Timestamp,
    ) -> Result<Vec<JobReason>, ClientError> {
        let row = &record.summary.row;
        let mut reasons = Vec::new();
        if let Some(asked) = &row.cancel {
            let (by, reason) = (asked.by.clone(), asked.reason.clone());
            reasons.push(JobReason::Cancelled { by, reason });
        }
        if row.state == JobState::Leased {
            reasons.push(self.why_leased(row, now).await?);
        } else {
            self.why_not_leased(record, status, now, &mut reasons).await?;
        }
        let is_told = matches!(reasons.last(), Some(JobReason::Concern { .. }));
        if row.lapses > 0 && !is_told {
            reasons.push(JobReason::Crashes { lapses: row.lapses });
        }
        Ok(reasons)
    }

    /// Everything that keeps it from being leased.
    async fn why_not_leased(
        &self,
        record: &JobRecord,
        status: JobStatus,
        now: Timestamp,
        reasons: &mut Vec<JobReason>,
    ) -> Result<(), ClientError> {
        let row = &record.summary.row;
        if status == JobStatus::AwaitingFuture {
            reasons.push(asleep(&record.summary));
        }
        if row.waits > 0 {
            reasons.push(self.why_waiting(record).await?);
        }
        match row.state {
            JobState::Concern => {
                let threshold = self.job_settings().await?.crash_threshold;
                reasons.push(JobReason::Concern { streak: row.streak, threshold });
            }
            JobState::Parked => reasons.push(self.why_parked(row).await?),
            state if state == JobState::Expired || row.is_expired(now) => {
                reasons.push(JobReason::Expired { at: row.expires_at.unwrap_or(now) });
            }
            // Nothing else does.
            _ if reasons.is_empty() => {
                reasons.extend(self.why_passed_over(&record.summary, now).await?);
                if reasons.is_empty() {
                    reasons.push(self.why_ready(&row.need, now).await?);
                }
            }
            _ => {}
        }
        Ok(())
    }

    async fn why_leased(&self, row: &JobRow, now: Timestamp) -> Result<JobReason, ClientError> {
        let Some(lease) = &row.lease else { return self.why_ready(&row.need, now).await };
        let (worker, until) = (lease.worker.clone(), lease.until);
        let workers = self.seen_workers().await?.unwrap_or_default();
        let known = workers.iter().find(|known| known.id.0.to_string() == worker);
        // Who leases by SQL, or by hand, has signed nothing: its lease is all that is known.
        let is_lost = row.has_lapsed(now) || known.is_some_and(|known| !known.is_alive(now));
        Ok(if is_lost {
            JobReason::LostWorker { worker, until }
        } else {
            JobReason::Running { worker, until }
        })
    }

    async fn why_waiting(&self, record: &JobRecord) -> Result<JobReason, ClientError> {
        let id = &record.summary.id;
        if let Some(through) = self.ring(id, record).await? {
            return Ok(JobReason::Ring { through });
        }
        let mut on = Vec::new();
        for wait in record.waits_for.iter().take(NAMED) {
            on.push((wait.on.clone(), self.standing_of(&wait.on).await?));
        }
        let more = record.waits_for.len() - on.len();
        Ok(JobReason::Waits { on, more })
    }

    /// How something that a job waits for is doing.
    async fn standing_of(&self, on: &Dependency) -> Result<Option<String>, ClientError> {
        match on {
            Dependency::Job(id) => match self.job(id).status().await {
                Ok(standing) => Ok(Some(standing.to_string())),
                Err(ClientError::UnknownJob { .. }) => Ok(None),
                Err(error) => Err(error),
            },
            Dependency::Run(run) => {
                let found = self.backend().statuses(&[*run]).await?;
                Ok(found.first().map(|run| run.status.to_string()))
            }
        }
    }

    /// Jobs through which a job waits for itself, as far as a look at a few tells.
    async fn ring(
        &self,
        id: &JobId,
        record: &JobRecord,
    ) -> Result<Option<Vec<JobId>>, ClientError> {
        let mut came_from: BTreeMap<JobId, JobId> = BTreeMap::new();
        let mut next: Vec<(JobId, JobId)> = jobs_of(id, record);
        while let Some((from, at)) = next.pop().filter(|_| came_from.len() < WALK) {
            if at == *id {
                return Ok(Some(path(&came_from, from, id)));
            }
            if came_from.contains_key(&at) {
                continue;
            }
            came_from.insert(at.clone(), from);
            match self.job(&at).record().await {
                Ok(record) => next.extend(jobs_of(&at, &record)),
                Err(ClientError::UnknownJob { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    async fn why_parked(&self, row: &JobRow) -> Result<JobReason, ClientError> {
        let key = row.key.clone().unwrap_or_default();
        for state in [JobState::Leased, JobState::Ready] {
            let of_key = JobSearch {
                state: Some(state),
                key: Some(key.clone()),
                need: (state == JobState::Ready).then(|| row.need.clone()),
                max: 1,
                ..JobSearch::default()
            };
            let found = self.find_jobs(&of_key).await?.jobs.into_iter().next();
            if let Some(JobSummary { id: job, row: first, .. }) = found {
                let worker = first.lease.map(|lease| lease.worker);
                return Ok(JobReason::Key { key, job: Some(job), worker });
            }
        }
        Ok(JobReason::Key { key, job: None, worker: None })
    }

    /// Why claims pass over a message that is in line: it keeps its key waiting, or its resources are not to be had.
    async fn why_passed_over(
        &self,
        message: &JobSummary,
        now: Timestamp,
    ) -> Result<Vec<JobReason>, ClientError> {
        let Ok(queues) = self.backend().pipelines() else { return Ok(Vec::new()) };
        let Some(kept) = queues.message(&message.id).await? else { return Ok(Vec::new()) };
        let mut reasons = Vec::new();
        if let Some(until) = kept.not_before.filter(|until| *until > now) {
            reasons.push(JobReason::Delayed { until });
        }
        let of_stage = self.stage_of(&message.row.need).await?.resources;
        for (resource, units) in kept.resources {
            // What the stage holds comes on top.
            let more = of_stage.get(&resource).copied().unwrap_or_default();
            let units = units.saturating_add(more);
            let found = queues.resource(&resource).await?;
            let (capacity, held) = found.map_or((0, 0), |(it, held)| (it.capacity, held));
            if u64::from(held) + u64::from(units) > u64::from(capacity) {
                reasons.push(JobReason::Resource { resource, units, capacity, held });
            }
        }
        Ok(reasons)
    }

    /// Why no worker takes jobs of a need that could be taken.
    ///
    /// ```
    /// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let db = pgflow::Db::connect("memory:").await?;
    /// assert_eq!(db.why_need("human.review").await?.code(), "no-worker");
    /// # Ok(()) })
    /// # }
    /// ```
    pub async fn why_need(&self, need: &str) -> Result<JobReason, ClientError> {
        self.why_ready(need, self.now().await?).await
    }

    async fn why_ready(&self, need: &str, now: Timestamp) -> Result<JobReason, ClientError> {
        let paused = self.paused_needs().await?.into_iter().find(|paused| paused.need == need);
        if let Some(PausedNeed { need, since, by }) = paused {
            return Ok(JobReason::Paused { need, since, by });
        }
        let stage = self.stage_of(need).await?;
        let Some(workers) = self.seen_workers().await? else {
            return Ok(self.why_no_permit(&stage, now).await?.unwrap_or(JobReason::HiddenWorkers));
        };
        let alive: Vec<_> = workers.iter().filter(|worker| worker.is_alive(now)).collect();
        let serving: Vec<_> = alive.iter().filter(|worker| worker.serves_need(need)).collect();
        let (need, workers) = (need.to_owned(), serving.len());
        if serving.is_empty() {
            return Ok(JobReason::NoWorker { need, alive: alive.len() });
        }
        if let Some(reason) = self.why_no_permit(&stage, now).await? {
            return Ok(reason);
        }
        let held = unless_refused(self.job_depths_of(0).await)?.unwrap_or_default().held;
        let jobs = |worker: &WorkerRecord| held.get(&worker.id.0.to_string()).copied().unwrap_or(0);
        let running: u64 =
            serving.iter().map(|worker| u64::from(worker.running) + jobs(worker)).sum();
        let slots: u32 = serving.iter().filter_map(|worker| worker.slots).sum();
        Ok(match stage.batch {
            _ if slots > 0 && running >= u64::from(slots) => JobReason::Busy { workers, slots },
            Some(BatchRule { len, wait, .. }) => JobReason::Batch { len, wait },
            None => JobReason::Ready { workers },
        })
    }

    /// Workers that are there, if this login may see them.
    pub(in crate::client) async fn seen_workers(
        &self,
    ) -> Result<Option<Vec<WorkerRecord>>, ClientError> {
        unless_refused(self.all_workers().await)
    }
}

/// Nothing if this login may not look.
fn unless_refused<T>(answer: Result<T, ClientError>) -> Result<Option<T>, ClientError> {
    match answer {
        Err(ClientError::Backend(BackendError::Refused(_))) => Ok(None),
        answer => answer.map(Some),
    }
}

/// Jobs that one waits for.
fn jobs_of(id: &JobId, record: &JobRecord) -> Vec<(JobId, JobId)> {
    let jobs = record.waits_for.iter().filter_map(|wait| wait.on.job());
    jobs.map(|on| (id.clone(), on.clone())).collect()
}

/// The way back from a job to the one that the walk began with.
fn path(came_from: &BTreeMap<JobId, JobId>, last: JobId, first: &JobId) -> Vec<JobId> {
    let mut path = vec![last];
    while let Some(before) = path.last().filter(|at| *at != first).and_then(|at| came_from.get(at))
    {
        path.push(before.clone());
    }
    path.retain(|at| at != first);
    path.reverse();
    path
}

fn asleep(job: &JobSummary) -> JobReason {
    let until = job.row.wake_at.unwrap_or_default();
    match &job.error {
        Some(error) if job.row.failures > 0 => {
            JobReason::Backoff { failures: job.row.failures, until, error: error.clone() }
        }
        _ => JobReason::Delayed { until },
    }
}
