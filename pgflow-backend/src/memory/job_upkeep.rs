//! Jobs, for people who look after them.

use std::cmp::Reverse;

use pgflow_machine::Timestamp;
use pgflow_machine::job::JobState;

use super::jobs::JobData;
use super::session::MemorySession;
use crate::backend::{Counted, JobDepths, JobSearch, JobSummary};
use crate::store::{JobUpkeepSession, Stored};

impl JobUpkeepSession for MemorySession {
    async fn job_depths(&mut self) -> Stored<JobDepths> {
        Ok(depths(&self.data().jobs, self.now))
    }

    async fn find_jobs(&mut self, search: &JobSearch) -> Stored<Vec<JobSummary>> {
        let data = self.data();
        let mut jobs: Vec<_> = data.jobs.all(self.now).filter(|job| search.is_for(job)).collect();
        jobs.sort_by_key(|job| Reverse(job.place()));
        jobs.retain(|job| search.after.is_none_or(|after| job.place() < after));
        jobs.truncate(search.max as usize);
        Ok(jobs)
    }

    async fn jobs_beginning(&mut self, beginning: &str, max: u32) -> Stored<Vec<JobSummary>> {
        let data = self.data();
        let all = data.jobs.all(self.now);
        let mut jobs: Vec<_> = all.filter(|job| job.id.as_str().starts_with(beginning)).collect();
        jobs.sort_by(|a, b| a.id.cmp(&b.id));
        jobs.truncate(max as usize);
        Ok(jobs)
    }

    async fn prunable_jobs(&mut self, ended_by: Timestamp, max: u64) -> Stored<u64> {
        let data = self.data();
        let ended = data.jobs.all(self.now).filter_map(|job| job.ended_at);
        Ok((ended.filter(|at| *at <= ended_by).count() as u64).min(max))
    }
}

fn depths(jobs: &JobData, now: Timestamp) -> JobDepths {
    let mut counted = Counted::default();
    let live: Vec<_> = jobs.all(now).filter(|job| job.ended_at.is_none()).collect();
    for job in &live {
        counted.add(job.row.need.clone(), job.row.state, 1);
        if let Some(lease) = &job.row.lease {
            counted.held(lease.worker.clone(), 1);
        }
    }
    let mut ready: Vec<_> = live.iter().filter(|job| job.row.state == JobState::Ready).collect();
    // The first in line of a need is the last to be noted.
    ready.sort_by_key(|job| Reverse(job.row.place()));
    for job in ready {
        let traced = jobs.trace(&job.id, 0, u32::MAX).last().map(|event| event.at);
        let since = [Some(job.row.created_at), job.row.wake_at, traced].into_iter().flatten().max();
        counted.first_ready(job.row.need.clone(), since.unwrap_or(now), now);
    }
    counted.depths()
}
