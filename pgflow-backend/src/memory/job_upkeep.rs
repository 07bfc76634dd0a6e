//! Jobs, for people who look after them.

use std::cmp::Reverse;

use pgflow_machine::Timestamp;
use pgflow_machine::job::JobState;

use super::jobs::JobData;
use super::session::MemorySession;
use crate::backend::{Counted, JobDepths, JobSearch, JobSummary, PausedNeed};
use crate::store::{JobUpkeepSession, Stored};

impl JobUpkeepSession for MemorySession {
    async fn job_depths(&mut self, most: u64) -> Stored<JobDepths> {
        Ok(depths(&self.data().jobs, most, self.now))
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
        Ok((data.prunable_jobs(ended_by).count() as u64).min(max))
    }

    async fn pause_needs(&mut self, needs: &[String], by: &str) -> Stored<u64> {
        let (since, mut data) = (self.now, self.data());
        let paused = &mut data.jobs.paused;
        let before = paused.len();
        for need in needs {
            paused.entry(need.clone()).or_insert_with(|| (since, by.to_owned()));
        }
        Ok((paused.len() - before) as u64)
    }

    async fn resume_needs(&mut self, needs: &[String]) -> Stored<u64> {
        let mut data = self.data();
        let resumed = needs.iter().filter(|need| data.jobs.paused.remove(*need).is_some());
        Ok(resumed.count() as u64)
    }

    async fn paused_needs(&mut self) -> Stored<Vec<PausedNeed>> {
        let data = self.data();
        let paused = data.jobs.paused.iter().map(|(need, (since, by))| PausedNeed {
            need: need.clone(),
            since: *since,
            by: by.clone(),
        });
        Ok(paused.collect())
    }
}

fn depths(jobs: &JobData, most: u64, now: Timestamp) -> JobDepths {
    let mut counted = Counted::default();
    let live: Vec<_> = jobs.all(now).filter(|job| job.ended_at.is_none()).collect();
    let most_here = usize::try_from(most).unwrap_or(usize::MAX);
    for job in live.iter().take(most_here) {
        counted.add(job.row.need.clone(), job.row.state, 1);
    }
    for job in &live {
        if let Some(lease) = &job.row.lease {
            counted.held(lease.worker.clone(), 1);
        }
    }
    let ready = live.iter().take(most_here).filter(|job| job.row.state == JobState::Ready);
    let mut ready: Vec<_> = ready.collect();
    // The first in line of a need is the last to be noted.
    ready.sort_by_key(|job| Reverse(job.row.place()));
    for job in ready {
        let traced = jobs.trace(&job.id, 0, u32::MAX).last().map(|event| event.at);
        let since = [Some(job.row.created_at), job.row.wake_at, traced].into_iter().flatten().max();
        let (need, first) = (job.row.need.clone(), job.id.clone());
        counted.first_ready(need, first, since.unwrap_or(now), now);
    }
    counted.depths(most)
}
