//! Jobs of a store: rows in, rows out.

use std::collections::HashMap;
use std::future::Future;

use pgflow_machine::job::{JobHold, JobId, JobNeeds, JobRows, JobSettings, JobWrites, ReadyJob};
use pgflow_machine::{RunId, Timestamp, Version};
use serde_json::Value;

use super::Stored;
use crate::backend::{JobEvent, JobQuery, JobRecord, JobSummary};

/// The part of a transaction that is about jobs. It decides nothing.
pub trait JobSession: Send {
    /// What all jobs go by.
    fn job_settings(&mut self) -> impl Future<Output = Stored<JobSettings>> + Send;

    /// Changes that.
    fn set_job_settings(
        &mut self,
        settings: JobSettings,
    ) -> impl Future<Output = Stored<()>> + Send;

    /// Adds rows. A store that locks rows locks these, in the order of [`JobNeeds`], and sees what others have committed by then.
    fn load_jobs(
        &mut self,
        needs: &JobNeeds,
        rows: &mut JobRows,
    ) -> impl Future<Output = Stored<()>> + Send;

    /// Writes what a command decided, in the order of [`JobWrites`], with a number of statements that does not depend on how
    /// much it is.
    fn write_jobs(
        &mut self,
        rows: &JobRows,
        writes: JobWrites<'_>,
    ) -> impl Future<Output = Stored<()>> + Send;

    /// Up to `max` jobs of these needs that are ready, by priority, then place. A store that locks rows passes over those that
    /// are locked. What they weigh is known without reading their payloads.
    fn ready_jobs(
        &mut self,
        needs: &[String],
        max: u32,
    ) -> impl Future<Output = Stored<Vec<ReadyJob>>> + Send;

    /// Up to `max` jobs of these needs that sleep and are due.
    fn due_jobs(
        &mut self,
        needs: &[String],
        max: u32,
    ) -> impl Future<Output = Stored<Vec<JobId>>> + Send;

    /// Up to `max` jobs whose lease has lapsed: of these needs, or that have a key which jobs of these needs are in line for; or of all.
    fn lapsed_jobs(
        &mut self,
        needs: Option<&[String]>,
        max: u32,
    ) -> impl Future<Output = Stored<Vec<JobId>>> + Send;

    /// Up to `max` jobs whose time is over and that nobody has.
    fn expired_jobs(&mut self, max: u32) -> impl Future<Output = Stored<Vec<JobId>>> + Send;

    /// Up to `max` jobs whose state and streak contradict this threshold: `JobRow::is_on_wrong_side_of`. Messages that are never set
    /// aside (`JobRows::threshold_of`) are among them only if they are.
    fn misjudged_jobs(
        &mut self,
        threshold: u32,
        max: u32,
    ) -> impl Future<Output = Stored<Vec<JobId>>> + Send;

    /// Up to `max` pairs of a job that waits and one that it waits for, which waits too.
    fn waiting_pairs(
        &mut self,
        max: u32,
    ) -> impl Future<Output = Stored<Vec<(JobId, JobId)>>> + Send;

    /// Runs of a version of a flow that jobs wait for.
    fn awaited_runs(
        &mut self,
        version: &Version,
    ) -> impl Future<Output = Stored<Vec<RunId>>> + Send;

    /// What this worker holds, as far as it has not lapsed for somebody else.
    fn held_jobs(&mut self, worker: &str) -> impl Future<Output = Stored<Vec<JobHold>>> + Send;

    /// When a job of these needs may be had: now, or any moment before, if one is ready; when the first sleeper wakes or the first
    /// lease lapses, of theirs or of one that has a key which they are in line for.
    fn next_job(
        &mut self,
        needs: &[String],
    ) -> impl Future<Output = Stored<Option<Timestamp>>> + Send;

    /// Payloads of live jobs.
    fn job_payloads(
        &mut self,
        jobs: &[JobId],
    ) -> impl Future<Output = Stored<HashMap<JobId, Value>>> + Send;

    /// A job, live or archived.
    fn job_record(&mut self, id: &JobId) -> impl Future<Output = Stored<Option<JobRecord>>> + Send;

    /// Jobs by their places in line.
    fn list_jobs(
        &mut self,
        query: &JobQuery,
    ) -> impl Future<Output = Stored<Vec<JobSummary>>> + Send;

    /// Lines of a job's trace.
    fn job_trace(
        &mut self,
        id: &JobId,
        after: u64,
        max: u32,
    ) -> impl Future<Output = Stored<Vec<JobEvent>>> + Send;

    /// The last lines of it.
    fn job_trace_end(
        &mut self,
        id: &JobId,
        max: u32,
    ) -> impl Future<Output = Stored<Vec<JobEvent>>> + Send;

    /// Deletes up to `max` archived jobs that ended by then, with their traces. Returns how many.
    fn prune_jobs(
        &mut self,
        ended_by: Timestamp,
        max: u32,
    ) -> impl Future<Output = Stored<u64>> + Send;
}
