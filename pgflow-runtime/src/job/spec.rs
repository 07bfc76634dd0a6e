//! A job that is to be submitted.

use std::fmt::Display;
use std::marker::PhantomData;

use pgflow_machine::job::{InvalidJobId, JobId, Moment, NewJob};

use super::Need;
use crate::check::{Lasts, PayloadOf, WaitsFor};
use crate::{DataError, Timestamp};

/// A job that is to be submitted: its payload is checked by the compiler.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[job] mod ping { use super::*; #[need] pub async fn pong(job: u8) -> Result<Next> { Ok(Next::done(job)) } }
/// use pgflow::job::JobSpec;
///
/// # fn main() -> Result<()> {
/// let job = JobSpec::<ping::pong>::new(&7)?.id("ping-7")?.key("table 1").priority(5);
/// assert_eq!(job.job_id().as_str(), "ping-7");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a job has to be submitted"]
pub struct JobSpec<N> {
    job: NewJob,
    need: PhantomData<fn() -> N>,
}

impl<N: Need> JobSpec<N> {
    /// A job that needs this first. Its id is made, in the order of time, unless it is [given](Self::id).
    #[expect(clippy::needless_pass_by_value, reason = "it may be owned")]
    pub fn new(payload: impl PayloadOf<N::Payload>) -> Result<Self, DataError> {
        let payload = ((N::KEPT)().write)(payload.payload())?;
        let mut job = NewJob::new(JobId::new(), N::DEF.name, payload);
        job.max_attempts = N::DEF.max_attempts;
        Ok(Self { job, need: PhantomData })
    }
}

impl<N> JobSpec<N> {
    /// Its name for ever: a job of a name that there is, or was, is refused.
    pub fn id(mut self, id: impl AsRef<str>) -> Result<Self, InvalidJobId> {
        self.job.id = id.as_ref().parse()?;
        Ok(self)
    }

    /// A singleton: one leased job per key at a time, over all needs and processes.
    pub fn key(mut self, key: impl Display) -> Self {
        self.job.key = Some(key.to_string());
        self
    }

    /// Greater ones go first; 0 if it is not said.
    pub fn priority(mut self, priority: i32) -> Self {
        self.job.priority = priority;
        self
    }

    /// Not before these are over: jobs, and runs of flows.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn after<I>(mut self, waits: I) -> Self where Self: WaitsFor<I> {
        self.job.after.extend(<Self as WaitsFor<I>>::waits(waits));
        self
    }

    /// Not before so much time has passed, by the database's clock.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn delay<D>(mut self, delay: D) -> Self where Self: Lasts<D> {
        let delay = <Self as Lasts<D>>::time(delay);
        self.job.wake = Some(Moment::In(delay));
        self
    }

    /// Not before this moment.
    pub fn at(mut self, moment: Timestamp) -> Self {
        self.job.wake = Some(Moment::At(moment));
        self
    }

    /// Not leased any more after so much time.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn expires_in<D>(mut self, after: D) -> Self where Self: Lasts<D> {
        let after = <Self as Lasts<D>>::time(after);
        self.job.expires = Some(Moment::In(after));
        self
    }

    /// Not leased any more after this moment.
    pub fn expires_at(mut self, moment: Timestamp) -> Self {
        self.job.expires = Some(Moment::At(moment));
        self
    }

    /// The id that it will have.
    pub fn job_id(&self) -> &JobId {
        &self.job.id
    }

    pub(crate) fn into_new(self) -> NewJob {
        self.job
    }
}
