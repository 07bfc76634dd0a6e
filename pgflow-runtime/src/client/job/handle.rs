//! A job, and how it is doing.

use std::time::Duration;

use pgflow_machine::job::{JobCancelled, JobId, JobOutcome, Wait};
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use super::ask;
use crate::backend::{JobEvent, JobRecord, JobStanding};
use crate::client::ClientError;
use crate::data_error::{What, read};
use crate::db::Db;
use pgflow_backend::backoff::Backoff;

/// The longest pause between two looks of [`JobHandle::wait`].
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Lines of a trace that one call reads.
const PAGE: u32 = 1_000;

/// A job. It goes on whether or not anybody holds this.
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
        Ok(self.record().await?.summary.standing)
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
    pub async fn wait_for(&self, timeout: Duration) -> Result<Option<JobOutcome>, ClientError> {
        let until = Instant::now().checked_add(timeout);
        let mut pause = Backoff::new(Duration::from_millis(10), LONGEST_PAUSE);
        loop {
            if let JobStanding::Ended(outcome) = self.status().await? {
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
    pub async fn output<T: DeserializeOwned>(&self) -> Result<T, ClientError> {
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

    /// What has happened to it, in order.
    pub async fn trace(&self) -> Result<Vec<JobEvent>, ClientError> {
        let mut all: Vec<JobEvent> = Vec::new();
        loop {
            let after = all.last().map_or(0, |event| event.number);
            let about = (self.id.clone(), after);
            let page = ask(&self.db, about, |jobs, (id, after)| jobs.job_trace(id, *after, PAGE));
            let page = page.await?;
            let is_last = page.len() < PAGE as usize;
            all.extend(page);
            if is_last {
                return Ok(all);
            }
        }
    }
}

impl From<&JobHandle> for Wait {
    fn from(job: &JobHandle) -> Self {
        Self::job(job.id.clone())
    }
}
