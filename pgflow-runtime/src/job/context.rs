//! What a need knows about the job it works on.

use std::sync::{Arc, Mutex, PoisonError};

use pgflow_machine::job::{JobId, NewJob};

use super::{JobSpec, Need};
use crate::DataError;
use crate::cancel::{Cancel, Cancelled};
use crate::check::{PayloadOf, PayloadsOf};

/// Handed to any need that has a parameter called `ctx`.
///
/// ```
/// use pgflow::prelude::*;
///
/// #[job]
/// mod album {
///     use super::*;
///
///     #[need]
///     pub async fn split(job: Vec<String>, ctx: JobContext) -> Result<Next> {
///         let scans = ctx.submit_all::<scan>(job)?;
///         Ok(Next::to::<bind>(scans.len()).after(scans))
///     }
///
///     #[need]
///     pub async fn scan(job: String) -> Result<Next> {
///         Ok(Next::done(job.len()))
///     }
///
///     #[need]
///     pub async fn bind(job: usize) -> Result<Next> {
///         Ok(Next::done(job))
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let ctx = JobContext::for_test();
/// let next = pgflow::testing::block_on(album::split(vec!["a".into(), "b".into()], ctx.clone()))?;
/// assert_eq!(format!("{next:?}"), r#"Next(to "album.bind" with 2)"#);
/// assert_eq!(ctx.forks().len(), 2, "two scans will be submitted");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct JobContext {
    id: JobId,
    need: Arc<str>,
    attempt: u32,
    cancel: Cancel,
    forks: Forks,
}

/// Jobs that an attempt submits when it ends.
#[derive(Clone, Debug, Default)]
struct Forks(Arc<Mutex<Vec<NewJob>>>);

impl Forks {
    fn push(&self, job: NewJob) -> JobId {
        let id = job.id.clone();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(job);
        id
    }

    /// Takes them all.
    fn take(&self) -> Vec<NewJob> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl JobContext {
    pub(crate) fn new(id: JobId, need: impl Into<Arc<str>>, attempt: u32, cancel: Cancel) -> Self {
        Self { id, need: need.into(), attempt, cancel, forks: Forks::default() }
    }

    /// A context to call a need with in a unit test.
    ///
    /// ```
    /// assert_eq!(pgflow::job::JobContext::for_test().attempt(), 1);
    /// ```
    pub fn for_test() -> Self {
        Self::new(JobId::new(), "test", 1, Cancel::default())
    }

    /// The job.
    ///
    /// ```
    /// # use pgflow::job::JobContext;
    /// assert!(!JobContext::for_test().job_id().as_str().is_empty());
    /// ```
    pub fn job_id(&self) -> &JobId {
        &self.id
    }

    /// The capability that it was leased for.
    ///
    /// ```
    /// assert_eq!(pgflow::job::JobContext::for_test().need(), "test");
    /// ```
    pub fn need(&self) -> &str {
        &self.need
    }

    /// Which claim of the job this is, from 1, over all its needs.
    ///
    /// ```
    /// assert_eq!(pgflow::job::JobContext::for_test().attempt(), 1);
    /// ```
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Whether this attempt should stop: the job was cancelled, another worker has it, or the worker shuts down.
    ///
    /// ```
    /// assert!(!pgflow::job::JobContext::for_test().is_cancelled());
    /// ```
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_set()
    }

    /// Ready once this attempt [should stop](Self::is_cancelled).
    pub fn cancelled(&self) -> Cancelled {
        self.cancel.wait()
    }

    /// Forks: a job that exists if and only if this attempt ends well, since it is submitted in the transaction that
    /// records the end. A crash before leaves nothing, and a second attempt forks anew.
    pub fn submit<N: Need>(&self, payload: impl PayloadOf<N::Payload>) -> Result<JobId, DataError> {
        Ok(self.submit_spec(JobSpec::<N>::new(payload)?))
    }

    /// [Forks](Self::submit) a job with options.
    pub fn submit_spec<N: Need>(&self, job: JobSpec<N>) -> JobId {
        self.forks.push(job.into_new())
    }

    /// [Forks](Self::submit) a job per payload.
    pub fn submit_all<N: Need>(
        &self,
        payloads: impl PayloadsOf<N::Payload, Each: Sized>,
    ) -> Result<Vec<JobId>, DataError> {
        payloads.each().map(|payload| self.submit::<N>(&payload)).collect()
    }

    /// What would be submitted if the attempt ended well now: for tests.
    pub fn forks(&self) -> Vec<JobId> {
        let forks = self.forks.0.lock().unwrap_or_else(PoisonError::into_inner);
        forks.iter().map(|job| job.id.clone()).collect()
    }

    pub(crate) fn take_forks(&self) -> Vec<NewJob> {
        self.forks.take()
    }
}
