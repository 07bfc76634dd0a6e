//! Jobs of a store, for people.

use std::future::Future;
use std::time::Duration;

use pgflow_machine::Timestamp;

use super::recovery::ago;
use super::{Access, Session, Store, Stored};
use crate::backend::{JobDepths, JobSearch, JobSummary, JobUpkeep, Reply};

/// The part of a transaction that people who look after jobs need. It only reads.
pub trait JobUpkeepSession: Send {
    /// Live jobs, counted.
    fn job_depths(&mut self) -> impl Future<Output = Stored<JobDepths>> + Send;

    /// Jobs, the last first.
    fn find_jobs(
        &mut self,
        search: &JobSearch,
    ) -> impl Future<Output = Stored<Vec<JobSummary>>> + Send;

    /// Up to `max` jobs whose names begin like this, by name.
    fn jobs_beginning(
        &mut self,
        beginning: &str,
        max: u32,
    ) -> impl Future<Output = Stored<Vec<JobSummary>>> + Send;

    /// How many archived jobs ended by then, counted up to `max`.
    fn prunable_jobs(
        &mut self,
        ended_by: Timestamp,
        max: u64,
    ) -> impl Future<Output = Stored<u64>> + Send;
}

impl<S: Store> JobUpkeep for S {
    fn job_depths(&self) -> Reply<'_, JobDepths> {
        Box::pin(async move { self.begin(Access::Read).await?.job_depths().await })
    }

    fn find_jobs<'a>(&'a self, search: &'a JobSearch) -> Reply<'a, Vec<JobSummary>> {
        Box::pin(async move { self.begin(Access::Read).await?.find_jobs(search).await })
    }

    fn jobs_beginning<'a>(&'a self, beginning: &'a str, max: u32) -> Reply<'a, Vec<JobSummary>> {
        Box::pin(
            async move { self.begin(Access::Read).await?.jobs_beginning(beginning, max).await },
        )
    }

    fn prunable_jobs(&self, older_than: Duration, max: u64) -> Reply<'_, u64> {
        Box::pin(async move {
            let mut session = self.begin(Access::Read).await?;
            let ended_by = ago(session.now(), older_than);
            session.prunable_jobs(ended_by, max).await
        })
    }
}
