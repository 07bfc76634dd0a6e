//! Jobs: rows in, rows out.

mod check;
mod load;
mod look;
mod pause;
mod read;
mod submit_in;
mod upkeep;
mod write;

use std::collections::HashMap;

use pgflow_machine::job::{JobHold, JobId, JobNeeds, JobRows, JobSettings, JobWrites, ReadyJob};
use pgflow_machine::{RunId, Timestamp, Version};
use serde_json::Value;

pub(super) use check::INVARIANTS;
pub use submit_in::submit_in;

use super::session::{Conn, SqliteSession};
use pgflow_backend::backend::{JobEvent, JobQuery, JobRecord, JobSummary};
use pgflow_backend::store::{JobSession, Stored};

/// Names as a parameter.
fn names<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Value = names.into_iter().collect();
    names.to_string()
}

fn ids<'n>(ids: impl IntoIterator<Item = &'n JobId>) -> String {
    names(ids.into_iter().map(JobId::as_str))
}

impl<C: Conn> JobSession for SqliteSession<C> {
    async fn job_settings(&mut self) -> Stored<JobSettings> {
        Ok(read::settings(self).await?)
    }

    async fn set_job_settings(&mut self, settings: JobSettings) -> Stored<()> {
        Ok(write::settings(self, settings).await?)
    }

    async fn load_jobs(&mut self, needs: &JobNeeds, rows: &mut JobRows) -> Stored<()> {
        Ok(load::load(self, needs, rows).await?)
    }

    async fn write_jobs(&mut self, rows: &JobRows, writes: JobWrites<'_>) -> Stored<()> {
        Ok(write::write(self, rows, writes).await?)
    }

    async fn ready_jobs(&mut self, needs: &[String], max: u32) -> Stored<Vec<ReadyJob>> {
        Ok(look::ready(self, needs, max).await?)
    }

    async fn due_jobs(&mut self, needs: &[String], max: u32) -> Stored<Vec<JobId>> {
        Ok(look::due(self, needs, max).await?)
    }

    async fn lapsed_jobs(&mut self, needs: Option<&[String]>, max: u32) -> Stored<Vec<JobId>> {
        Ok(look::lapsed(self, needs, max).await?)
    }

    async fn expired_jobs(&mut self, max: u32) -> Stored<Vec<JobId>> {
        Ok(look::expired(self, max).await?)
    }

    async fn misjudged_jobs(&mut self, threshold: u32, max: u32) -> Stored<Vec<JobId>> {
        Ok(look::misjudged(self, threshold, max).await?)
    }

    async fn waiting_pairs(&mut self, max: u32) -> Stored<Vec<(JobId, JobId)>> {
        Ok(look::waiting_pairs(self, max).await?)
    }

    async fn awaited_runs(&mut self, version: &Version) -> Stored<Vec<RunId>> {
        Ok(look::awaited_runs(self, version).await?)
    }

    async fn held_jobs(&mut self, worker: &str) -> Stored<Vec<JobHold>> {
        Ok(look::held(self, worker).await?)
    }

    async fn next_job(&mut self, needs: &[String]) -> Stored<Option<Timestamp>> {
        Ok(look::next(self, needs).await?)
    }

    async fn job_payloads(&mut self, jobs: &[JobId]) -> Stored<HashMap<JobId, Value>> {
        Ok(read::payloads(self, jobs).await?)
    }

    async fn job_record(&mut self, id: &JobId) -> Stored<Option<JobRecord>> {
        Ok(read::record(self, id).await?)
    }

    async fn list_jobs(&mut self, query: &JobQuery) -> Stored<Vec<JobSummary>> {
        Ok(read::list(self, query).await?)
    }

    async fn job_trace(&mut self, id: &JobId, after: u64, max: u32) -> Stored<Vec<JobEvent>> {
        Ok(read::trace(self, id, after, max).await?)
    }

    async fn job_trace_end(&mut self, id: &JobId, max: u32) -> Stored<Vec<JobEvent>> {
        Ok(read::trace_end(self, id, max).await?)
    }

    async fn prune_jobs(&mut self, ended_by: Timestamp, max: u32) -> Stored<u64> {
        Ok(write::prune(self, ended_by, max).await?)
    }
}
