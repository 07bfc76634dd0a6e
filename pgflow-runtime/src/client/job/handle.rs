//! A job, and how it is doing.

use std::pin::Pin;
use std::time::Duration;

use pgflow_machine::job::{JobCancelled, JobId, JobOutcome, Wait};
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use super::ask;
use crate::backend::{JobEvent, JobRecord, JobStanding};
use crate::check::{Lasts, Reads};
use crate::client::ClientError;
use crate::data_error::{What, read};
use crate::db::Db;
use pgflow_backend::backoff::Backoff;

/// The longest pause between two looks of [`JobHandle::wait`] at a job in memory.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

type Reading<'a, T> = Pin<Box<dyn Future<Output = Result<T, ClientError>> + Send + 'a>>;

/// Lines of a trace that one call reads.
const PAGE: u32 = 1_000;

/// A job. It goes on when this is dropped.
///
/// ```
/// # use pgflow::prelude::*;
/// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let db = Db::connect("memory:").await?;
/// let job = db.submit_raw("human.review", serde_json::json!("case 7")).id("case-7").await?;
/// job.cancel("not needed").await?;
/// assert_eq!(job.wait().await?.to_string(), "cancelled");
/// assert_eq!(job.trace().await?.len(), 2, "it was submitted, and cancelled");
/// # Ok(()) })
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct JobHandle {
    db: Db,
    id: JobId,
    is_new: bool,
}

impl JobHandle {
    pub(super) fn new(db: Db, id: JobId, is_new: bool) -> Self {
        Self { db, id, is_new }
    }

    /// Its name.
    pub fn id(&self) -> &JobId {
        &self.id
    }

    /// Whether it was submitted just now, and was not there before.
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// Where it stands.
    pub async fn status(&self) -> Result<JobStanding, ClientError> {
        let found = ask(&self.db, [self.id.clone()], |jobs, ids| jobs.job_standings(ids)).await?;
        let standing = found.into_iter().next().map(|(_, standing)| standing);
        standing.ok_or_else(|| ClientError::UnknownJob { job: self.id.clone() })
    }

    /// The job as the database has it, live or archived.
    pub async fn record(&self) -> Result<JobRecord, ClientError> {
        let found = ask(&self.db, self.id.clone(), |jobs, id| jobs.job(id)).await?;
        found.ok_or_else(|| ClientError::UnknownJob { job: self.id.clone() })
    }

    /// Waits until it has ended, and says how.
    pub async fn wait(&self) -> Result<JobOutcome, ClientError> {
        loop {
            if let Some(outcome) = self.wait_for(Duration::from_hours(1)).await? {
                return Ok(outcome);
            }
        }
    }

    /// Waits until it has ended, but not longer than this: `None` means that it still goes on.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn wait_for<D>(&self, timeout: D) -> Ending<'_> where Self: Lasts<D> {
        // A time that no clock will ever show is no limit.
        let until = Instant::now().checked_add(<Self as Lasts<D>>::time(timeout));
        Box::pin(self.ended(until))
    }

    async fn ended(&self, until: Option<Instant>) -> Result<Option<JobOutcome>, ClientError> {
        let backend = self.db.backend();
        if backend.abilities().holds_connections {
            return match self.db.job_waiting().ended(backend, &self.id, until).await? {
                Some(outcome) => Ok(Some(outcome)),
                None => Ok(outcome_of(self.status().await?)),
            };
        }
        // What is in memory costs nothing to look at, and may be used without a runtime that could run a task.
        let mut pause = Backoff::new(Duration::from_millis(10), LONGEST_PAUSE);
        loop {
            if let Some(outcome) = outcome_of(self.status().await?) {
                return Ok(Some(outcome));
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                return Ok(None);
            }
            tokio::time::sleep(pause.next()).await;
        }
    }

    /// Waits until it has ended, and reads what it put out. A job that did not end as done has no output, and the error says
    /// why.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn output<T: 'static>(&self) -> Reading<'_, T> where Self: Reads<T, Read: Sized> {
        Box::pin(async { Ok(<Self as Reads<T>>::read_as(self.read_output().await?)) })
    }

    async fn read_output<T: DeserializeOwned>(&self) -> Result<T, ClientError> {
        let outcome = self.wait().await?;
        let record = self.record().await?;
        match record.output {
            Some(output) if outcome == JobOutcome::Done => Ok(read(What::JobOutput, &output)?),
            _ => {
                let reason = record.summary.error;
                Err(ClientError::JobNotDone { job: self.id.clone(), outcome, reason })
            }
        }
    }

    /// No further lease. A worker that has it is told, and may still finish it.
    pub async fn cancel(&self, reason: &str) -> Result<JobCancelled, ClientError> {
        let about = ([self.id.clone()], reason.to_owned());
        let cancel = ask(&self.db, about, |jobs, (ids, reason)| {
            jobs.cancel_jobs(ids, "client", Some(reason))
        });
        let answer = cancel.await?.into_iter().next();
        answer.ok_or_else(|| ClientError::UnknownJob { job: self.id.clone() })
    }

    /// What has happened to it, in order. [`events`](Self::events) goes on with what happens.
    pub async fn trace(&self) -> Result<Vec<JobEvent>, ClientError> {
        let mut all: Vec<JobEvent> = Vec::new();
        loop {
            let after = all.last().map_or(0, |event| event.number);
            let page = self.trace_after(after).await?;
            let is_last = page.len() < PAGE as usize;
            all.extend(page);
            if is_last {
                return Ok(all);
            }
        }
    }

    /// The last lines of that, in order.
    pub async fn trace_end(&self, max: u32) -> Result<Vec<JobEvent>, ClientError> {
        let about = (self.id.clone(), max);
        ask(&self.db, about, |jobs, (id, max)| jobs.job_trace_end(id, *max)).await
    }

    /// A page of it.
    pub(super) async fn trace_after(&self, after: u64) -> Result<Vec<JobEvent>, ClientError> {
        let about = (self.id.clone(), after);
        ask(&self.db, about, |jobs, (id, after)| jobs.job_trace(id, *after, PAGE)).await
    }
}

fn outcome_of(standing: JobStanding) -> Option<JobOutcome> {
    match standing {
        JobStanding::Ended(outcome) => Some(outcome),
        JobStanding::Live(_) => None,
    }
}

impl From<&JobHandle> for Wait {
    fn from(job: &JobHandle) -> Self {
        Self::job(job.id.clone())
    }
}

/// A type that does not mention what was given as a time: of what is none, the compiler would say so at each mention.
type Ending<'a> =
    Pin<Box<dyn Future<Output = Result<Option<JobOutcome>, ClientError>> + Send + 'a>>;
