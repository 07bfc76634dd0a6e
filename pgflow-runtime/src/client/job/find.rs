//! Jobs that are there: lists, counts, and what to forget.

use std::cmp::Reverse;
use std::time::Duration;

use pgflow_machine::job::{JobId, JobOutcome};

use super::ask;
use crate::backend::{Backend, JobDepths, JobSearch, JobSummary, JobUpkeep, JobsOf, Reply};
use crate::client::ClientError;
use crate::client::patience::patiently;
use crate::db::Db;

/// Jobs that one call forgets.
const BATCH: u32 = 500;

/// A page of a list of jobs.
///
/// ```
/// # use pgflow::prelude::*;
/// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let db = Db::connect("memory:").await?;
/// db.submit_raw("python.transform", serde_json::json!(1)).id("first").await?;
/// db.submit_raw("python.transform", serde_json::json!(2)).id("second").await?;
/// let one = pgflow::backend::JobSearch { max: 1, ..Default::default() };
/// let page: pgflow::client::JobPage = db.find_jobs(&one).await?;
/// assert_eq!(page.jobs[0].id.as_str(), "second");
/// let next = db.find_jobs(&page.next.expect("there is more")).await?;
/// assert_eq!(next.jobs[0].id.as_str(), "first");
/// # Ok(()) })
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct JobPage {
    /// Its jobs, the last first.
    pub jobs: Vec<JobSummary>,
    /// Asks for the page after this one; `None` if this is the last.
    pub next: Option<JobSearch>,
}

impl JobPage {
    /// Another page follows one that is full.
    fn new(jobs: Vec<JobSummary>, search: &JobSearch) -> Self {
        let is_full = jobs.len() >= search.max as usize;
        let last = jobs.last().filter(|_| is_full).map(JobSummary::place);
        let next = last.map(|last| JobSearch { after: Some(last), ..search.clone() });
        Self { jobs, next }
    }
}

impl Db {
    /// Jobs, the last first: live ones by their places in line, others by when they ended.
    pub async fn find_jobs(&self, search: &JobSearch) -> Result<JobPage, ClientError> {
        let jobs = look(self, search.clone(), |jobs, search| jobs.find_jobs(search)).await?;
        Ok(JobPage::new(jobs, search))
    }

    /// A page of dead jobs, those that failed or crashed, the last to end first. What else the search says of where jobs stand is
    /// not looked at.
    ///
    /// ```
    /// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// use pgflow::backend::JobSearch;
    ///
    /// let db = pgflow::Db::connect("memory:").await?;
    /// let page = db.dead_jobs(&JobSearch::default()).await?;
    /// assert!(page.jobs.is_empty() && page.next.is_none());
    /// # Ok(()) })
    /// # }
    /// ```
    pub async fn dead_jobs(&self, search: &JobSearch) -> Result<JobPage, ClientError> {
        let mut jobs = Vec::new();
        for outcome in [JobOutcome::Failed, JobOutcome::Crashed] {
            let of = JobsOf::EndedAs(outcome);
            let part = JobSearch { of, state: None, ..search.clone() };
            jobs.extend(look(self, part, |jobs, search| jobs.find_jobs(search)).await?);
        }
        // Each list is in this order, and goes as far as the page does.
        jobs.sort_by_key(|job| Reverse(job.place()));
        jobs.truncate(search.max as usize);
        Ok(JobPage::new(jobs, search))
    }

    /// Up to `max` jobs whose names begin like this, by name.
    pub async fn jobs_beginning(
        &self,
        beginning: &str,
        max: u32,
    ) -> Result<Vec<JobSummary>, ClientError> {
        let about = (beginning.to_owned(), max);
        look(self, about, |jobs, (beginning, max)| jobs.jobs_beginning(beginning, *max)).await
    }

    /// Who waits for these jobs: pairs of a job and one that waits for it, by name; of each job up to a hundred.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let db = Db::connect("memory:").await?;
    /// let first = db.submit_raw("python.transform", serde_json::json!(1)).await?;
    /// let second = db.submit_raw("python.transform", serde_json::json!(2)).after([&first]).await?;
    /// let waiters = db.job_waiters(&[first.id().clone()]).await?;
    /// assert_eq!(waiters, [(first.id().clone(), second.id().clone())]);
    /// # Ok(()) })
    /// # }
    /// ```
    pub async fn job_waiters(&self, jobs: &[JobId]) -> Result<Vec<(JobId, JobId)>, ClientError> {
        look(self, jobs.to_vec(), |upkeep, jobs| upkeep.job_waiters(jobs)).await
    }

    /// Live jobs, counted by need, and by who has them: all of them.
    pub async fn job_depths(&self) -> Result<JobDepths, ClientError> {
        self.job_depths_of(u64::MAX).await
    }

    /// The same, but no more than `most` jobs are looked at by need: for those who look often, and may have millions of them.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let db = Db::connect("memory:").await?;
    /// db.submit_raw("python.transform", serde_json::json!(1)).await?;
    /// db.submit_raw("python.transform", serde_json::json!(2)).await?;
    /// assert!(!db.job_depths_of(1_000).await?.is_part);
    /// let depths = db.job_depths_of(1).await?;
    /// assert!(depths.is_part && depths.needs[0].ready == 1);
    /// # Ok(()) })
    /// # }
    /// ```
    pub async fn job_depths_of(&self, most: u64) -> Result<JobDepths, ClientError> {
        look(self, most, |jobs, most| jobs.job_depths(*most)).await
    }

    /// Whether this database keeps jobs.
    pub fn has_jobs(&self) -> bool {
        self.backend().jobs().is_ok() && self.backend().job_upkeep().is_ok()
    }

    /// How many jobs [`prune_jobs`](Self::prune_jobs) would forget, counted up to `max`.
    pub async fn prunable_jobs(&self, older_than: Duration, max: u64) -> Result<u64, ClientError> {
        look(self, (older_than, max), |jobs, (age, max)| jobs.prunable_jobs(*age, *max)).await
    }

    /// Forgets jobs that ended longer ago than this, with their traces, and says how many. Their names may be used again.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let db = Db::connect("memory:").await?;
    /// db.submit_raw("python.transform", serde_json::json!(1)).await?.cancel("not needed").await?;
    /// assert_eq!(db.prune_jobs(std::time::Duration::from_secs(3_600)).await?, 0, "it is not that old");
    /// assert_eq!(db.prune_jobs(std::time::Duration::ZERO).await?, 1);
    /// # Ok(()) })
    /// # }
    /// ```
    pub async fn prune_jobs(&self, older_than: Duration) -> Result<u64, ClientError> {
        let mut forgotten = 0;
        loop {
            let batch = ask(self, older_than, |jobs, age| jobs.prune_jobs(*age, BATCH)).await?;
            forgotten += batch;
            if batch < u64::from(BATCH) {
                return Ok(forgotten);
            }
        }
    }
}

/// What the database is asked about jobs by people.
async fn look<T: Send + 'static, A: Clone + Send + Sync + 'static>(
    db: &Db,
    about: A,
    call: impl for<'a> Fn(&'a dyn JobUpkeep, &'a A) -> Reply<'a, T> + Clone + Send + Sync + 'static,
) -> Result<T, ClientError> {
    let asked = patiently(db, move |backend: &dyn Backend| -> Reply<'_, T> {
        let (about, call) = (about.clone(), call.clone());
        Box::pin(async move { call(backend.job_upkeep()?, &about).await })
    });
    Ok(asked.await?)
}
