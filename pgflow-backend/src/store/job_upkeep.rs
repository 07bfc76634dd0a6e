//! Jobs of a store, for people.

use std::collections::BTreeSet;
use std::future::Future;
use std::time::Duration;

use pgflow_machine::Timestamp;
use pgflow_machine::job::{Dependency, JobId, JobNeeds, JobRows};

use super::execute::again;
use super::jobs::{Ready, hint};
use super::upkeep::ago;
use super::{Access, JobSession, Session, Store, Stored};
use crate::backend::{JobDepths, JobSearch, JobSummary, JobUpkeep, PausedNeed, Reply};

/// Of a job, so many that wait for it are named.
const WAITERS: usize = 100;

/// The part of a transaction that people who look after jobs need.
pub trait JobUpkeepSession: Send {
    /// Live jobs, counted; by need, no more than `most`.
    fn job_depths(&mut self, most: u64) -> impl Future<Output = Stored<JobDepths>> + Send;

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

    /// Notes these needs as paused, as far as they are not. Says how many.
    fn pause_needs(
        &mut self,
        needs: &[String],
        by: &str,
    ) -> impl Future<Output = Stored<u64>> + Send;

    /// Forgets that these needs are paused. Says how many were.
    fn resume_needs(&mut self, needs: &[String]) -> impl Future<Output = Stored<u64>> + Send;

    /// Needs that are paused, by name. A store that locks rows does not lock these.
    fn paused_needs(&mut self) -> impl Future<Output = Stored<Vec<PausedNeed>>> + Send;
}

/// Names of needs that are paused.
pub(super) async fn paused<S: JobUpkeepSession>(session: &mut S) -> Stored<Vec<String>> {
    Ok(session.paused_needs().await?.into_iter().map(|paused| paused.need).collect())
}

async fn pause<S: Store>(store: &S, needs: &[String], by: &str) -> Stored<u64> {
    PausedNeed::check(needs, Some(by))?;
    let mut session = store.begin(Access::Write).await?;
    let paused = session.pause_needs(needs, by).await?;
    store.commit(session).await?;
    Ok(paused)
}

async fn resume<S: Store>(store: &S, needs: &[String]) -> Stored<u64> {
    PausedNeed::check(needs, None)?;
    let mut session = store.begin(Access::Write).await?;
    let resumed = session.resume_needs(needs).await?;
    store.commit(session).await?;
    let ready = Ready { needs: needs.iter().cloned().collect(), ..Ready::default() };
    hint(store, ready);
    Ok(resumed)
}

async fn waiters<S: Store>(store: &S, jobs: &[JobId]) -> Stored<Vec<(JobId, JobId)>> {
    let mut rows = JobRows::default();
    let waiters = jobs.iter().cloned().map(Dependency::Job).collect();
    let needs = JobNeeds { waiters, ..JobNeeds::default() };
    store.begin(Access::Read).await?.load_jobs(&needs, &mut rows).await?;
    let mut found = BTreeSet::new();
    for job in jobs {
        let all = rows.waiters.get(&Dependency::Job(job.clone())).into_iter().flatten();
        let all: BTreeSet<_> = all.map(|(waiter, _)| waiter).collect();
        found.extend(all.into_iter().take(WAITERS).map(|waiter| (job.clone(), waiter.clone())));
    }
    Ok(found.into_iter().collect())
}

impl<S: Store> JobUpkeep for S {
    fn job_depths(&self, most: u64) -> Reply<'_, JobDepths> {
        Box::pin(async move { self.begin(Access::Read).await?.job_depths(most).await })
    }

    fn find_jobs<'a>(&'a self, search: &'a JobSearch) -> Reply<'a, Vec<JobSummary>> {
        Box::pin(async move { self.begin(Access::Read).await?.find_jobs(search).await })
    }

    fn jobs_beginning<'a>(&'a self, beginning: &'a str, max: u32) -> Reply<'a, Vec<JobSummary>> {
        Box::pin(
            async move { self.begin(Access::Read).await?.jobs_beginning(beginning, max).await },
        )
    }

    fn job_waiters<'a>(&'a self, jobs: &'a [JobId]) -> Reply<'a, Vec<(JobId, JobId)>> {
        Box::pin(waiters(self, jobs))
    }

    fn prunable_jobs(&self, older_than: Duration, max: u64) -> Reply<'_, u64> {
        Box::pin(async move {
            let mut session = self.begin(Access::Read).await?;
            let ended_by = ago(session.now(), older_than);
            session.prunable_jobs(ended_by, max).await
        })
    }

    fn pause_needs<'a>(&'a self, needs: &'a [String], by: &'a str) -> Reply<'a, u64> {
        Box::pin(async move { again!(self, pause(self, needs, by)) })
    }

    fn resume_needs<'a>(&'a self, needs: &'a [String]) -> Reply<'a, u64> {
        Box::pin(async move { again!(self, resume(self, needs)) })
    }

    fn paused_needs(&self) -> Reply<'_, Vec<PausedNeed>> {
        Box::pin(async move { self.begin(Access::Read).await?.paused_needs().await })
    }
}
