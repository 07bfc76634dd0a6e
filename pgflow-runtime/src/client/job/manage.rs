//! Jobs for those who look after them.

use std::time::Duration;

use pgflow_machine::job::{ConcernCleared, JobId, JobSettings, Operated, Redriven, Unheld};

use super::{JobHandle, ask};
use crate::backend::{JobQuery, JobSummary};
use crate::client::ClientError;
use crate::db::Db;

impl Db {
    /// The job of this name, whether there is one or not.
    pub fn job(&self, id: &JobId) -> JobHandle {
        JobHandle::new(self.clone(), id.clone(), false)
    }

    /// Jobs by their places in line.
    pub async fn jobs(&self, query: &JobQuery) -> Result<Vec<JobSummary>, ClientError> {
        ask(self, query.clone(), |jobs, query| jobs.list_jobs(query)).await
    }

    /// Lets jobs go on that have lost too many workers in a row.
    pub async fn clear_concern(&self, ids: &[JobId]) -> Result<Vec<ConcernCleared>, ClientError> {
        ask(self, ids.to_vec(), |jobs, ids| jobs.clear_concern(ids, "operator")).await
    }

    /// Opens failed and crashed jobs again, with a fresh budget and their history, each so much later than the one before.
    pub async fn redrive(
        &self,
        ids: &[JobId],
        spacing: Duration,
    ) -> Result<Vec<Redriven>, ClientError> {
        let about = (ids.to_vec(), spacing);
        ask(self, about, |jobs, (ids, spacing)| jobs.redrive_jobs(ids, "operator", *spacing)).await
    }

    /// Completes or reschedules a job that nobody has.
    pub async fn operate(&self, id: &JobId, act: &Unheld) -> Result<Operated, ClientError> {
        let about = (id.clone(), act.clone());
        ask(self, about, |jobs, (id, act)| jobs.operate(id, "operator", act)).await
    }

    /// What all jobs go by.
    pub async fn job_settings(&self) -> Result<JobSettings, ClientError> {
        ask(self, (), |jobs, ()| jobs.job_settings()).await
    }

    /// Changes that, for all processes.
    pub async fn set_job_settings(&self, settings: JobSettings) -> Result<(), ClientError> {
        ask(self, settings, |jobs, settings| jobs.set_job_settings(*settings)).await
    }
}
