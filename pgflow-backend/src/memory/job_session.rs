//! Jobs, in a turn.

use std::collections::HashMap;

use pgflow_machine::job::{JobHold, JobId, JobNeeds, JobRows, JobSettings, JobWrites, ReadyJob};
use pgflow_machine::{RunId, Timestamp, Version};
use serde_json::Value;

use super::session::MemorySession;
use crate::backend::{JobEvent, JobQuery, JobRecord, JobSummary};
use crate::store::{JobSession, Stored};

impl JobSession for MemorySession {
    async fn job_settings(&mut self) -> Stored<JobSettings> {
        Ok(self.data().jobs.settings)
    }

    async fn set_job_settings(&mut self, settings: JobSettings) -> Stored<()> {
        self.data().jobs.settings = settings;
        Ok(())
    }

    async fn load_jobs(&mut self, needs: &JobNeeds, rows: &mut JobRows) -> Stored<()> {
        let data = self.data();
        data.jobs.load(needs, rows, |run| Some(data.runs.get(&run)?.state.status));
        Ok(())
    }

    async fn write_jobs(&mut self, rows: &JobRows, writes: JobWrites<'_>) -> Stored<()> {
        self.data().jobs.write(self.now, rows, writes);
        Ok(())
    }

    async fn ready_jobs(&mut self, needs: &[String], max: u32) -> Stored<Vec<ReadyJob>> {
        Ok(self.data().jobs.ready(needs, max))
    }

    async fn due_jobs(&mut self, needs: &[String], max: u32) -> Stored<Vec<JobId>> {
        Ok(self.data().jobs.due(self.now, needs, max))
    }

    async fn lapsed_jobs(&mut self, needs: Option<&[String]>, max: u32) -> Stored<Vec<JobId>> {
        Ok(self.data().jobs.lapsed(self.now, needs, max))
    }

    async fn expired_jobs(&mut self, max: u32) -> Stored<Vec<JobId>> {
        Ok(self.data().jobs.expired(self.now, max))
    }

    async fn misjudged_jobs(&mut self, threshold: u32, max: u32) -> Stored<Vec<JobId>> {
        let data = self.data();
        Ok(data.jobs.misjudged(threshold, max, |need| data.pipelines.is_queue(need)))
    }

    async fn waiting_pairs(&mut self, max: u32) -> Stored<Vec<(JobId, JobId)>> {
        Ok(self.data().jobs.waiting_pairs(max))
    }

    async fn awaited_runs(&mut self, version: &Version) -> Stored<Vec<RunId>> {
        let data = self.data();
        let is_meant =
            |run: &RunId| data.runs.get(run).is_some_and(|run| run.version.id == version.id);
        Ok(data.jobs.awaited_runs().filter(is_meant).collect())
    }

    async fn held_jobs(&mut self, worker: &str) -> Stored<Vec<JobHold>> {
        Ok(self.data().jobs.held(worker))
    }

    async fn next_job(&mut self, needs: &[String]) -> Stored<Option<Timestamp>> {
        Ok(self.data().jobs.next(self.now, needs))
    }

    async fn job_payloads(&mut self, jobs: &[JobId]) -> Stored<HashMap<JobId, Value>> {
        let data = self.data();
        let payload = |id: &JobId| Some((id.clone(), data.jobs.payload(id)?.clone()));
        Ok(jobs.iter().filter_map(payload).collect())
    }

    async fn job_record(&mut self, id: &JobId) -> Stored<Option<JobRecord>> {
        Ok(self.data().jobs.record(self.now, id))
    }

    async fn list_jobs(&mut self, query: &JobQuery) -> Stored<Vec<JobSummary>> {
        Ok(self.data().jobs.list(self.now, query))
    }

    async fn job_trace(&mut self, id: &JobId, after: u64, max: u32) -> Stored<Vec<JobEvent>> {
        Ok(self.data().jobs.trace(id, after, max))
    }

    async fn job_trace_end(&mut self, id: &JobId, max: u32) -> Stored<Vec<JobEvent>> {
        Ok(self.data().jobs.trace_end(id, max))
    }

    async fn prune_jobs(&mut self, ended_by: Timestamp, max: u32) -> Stored<u64> {
        let mut data = self.data();
        let old: Vec<_> = data.prunable_jobs(ended_by).take(max as usize).cloned().collect();
        for id in &old {
            data.jobs.prune(id);
        }
        data.pipelines.forget(&old);
        Ok(old.len() as u64)
    }
}
