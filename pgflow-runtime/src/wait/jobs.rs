//! Jobs that a step waits for.

use std::future::{Ready, ready};

use pgflow_machine::job::NewJob;

use super::{On, Outcome, Wait, Waiting};
use crate::check::{PayloadOf, PayloadsOf};
use crate::job::{JobSpec, Need};
use crate::{Context, DataError};

/// A job that a step is about to wait for: it is submitted with the wait, in one transaction. See [`Context::submit`].
#[derive(Debug)]
#[must_use = "a job is submitted when the step waits for it: return `.wait()`"]
pub struct ChildJob(Wait);

/// Jobs that a step is about to wait for. See [`Context::submit_all`].
#[derive(Debug)]
#[must_use = "jobs are submitted when the step waits for them: return `.wait()`"]
pub struct ChildJobs(Wait);

impl Context {
    /// A job that needs this first, for the step to wait for. It is submitted if and only if the wait is recorded.
    ///
    /// A job says by itself with what it is done, so what the step puts out is read as whatever it says it is. What the
    /// step cannot read fails its attempt.
    ///
    /// ```
    /// use pgflow::prelude::*;
    ///
    /// #[job]
    /// mod page {
    ///     use super::*;
    ///     #[need]
    ///     pub async fn scan(job: u32) -> Result<Next> { Ok(Next::done(format!("page {job}"))) }
    /// }
    ///
    /// #[flow(input = u32)]
    /// mod book {
    ///     use super::*;
    ///     #[step]
    ///     pub async fn first(run: u32, ctx: Context) -> Result<Waiting<String>> {
    ///         Ok(ctx.submit::<page::scan>(&run).await?.wait())
    ///     }
    ///     #[step]
    ///     pub async fn all(run: u32, ctx: Context) -> Result<Waiting<Vec<String>>> {
    ///         Ok(ctx.submit_all::<page::scan>(0..run).await?.wait())
    ///     }
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// let waiting = pgflow::testing::block_on(book::all(3, Context::for_test()))?;
    /// assert_eq!(format!("{waiting:?}"), "Waiting(for 3 jobs)");
    /// # Ok(())
    /// # }
    /// ```
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn submit<N: Need>(&self, payload: impl PayloadOf<N::Payload>) -> Ready<Result<ChildJob, DataError>> {
        ready(JobSpec::<N>::new(payload).map(|job| self.submit_spec(job)))
    }

    /// A job with options, for the step to wait for.
    pub fn submit_spec<N: Need>(&self, job: JobSpec<N>) -> ChildJob {
        ChildJob(wait(vec![job.into_new()], false))
    }

    /// A job per payload, for the step to wait for.
    pub fn submit_all<N: Need>(
        &self,
        payloads: impl PayloadsOf<N::Payload, Each: Sized>,
    ) -> Ready<Result<ChildJobs, DataError>> {
        let specs = payloads.each().map(|payload| JobSpec::<N>::new(&payload));
        let jobs = specs.map(|spec| spec.map(JobSpec::into_new)).collect::<Result<_, _>>();
        ready(jobs.map(|jobs| ChildJobs(wait(jobs, true))))
    }
}

fn wait(jobs: Vec<NewJob>, each: bool) -> Wait {
    Wait::on(On::Jobs { jobs, each })
}

impl ChildJob {
    /// Goes on if the run that waits for it is cancelled or fails.
    pub fn detached(mut self) -> Self {
        self.0.detached = true;
        self
    }

    /// Ends the attempt by waiting for it: what it is done with is the output of the step. If it fails, the attempt has
    /// failed, and the next one submits a new job.
    pub fn wait<T>(self) -> Waiting<T> {
        Waiting::new(self.0)
    }

    /// Ends the attempt by waiting for it, however it ends.
    pub fn outcome<T>(self) -> Waiting<Outcome<T>> {
        Waiting::new(Wait { outcomes: true, ..self.0 })
    }
}

impl ChildJobs {
    /// Go on if the run that waits for them is cancelled or fails.
    pub fn detached(mut self) -> Self {
        self.0.detached = true;
        self
    }

    /// Ends the attempt by waiting for all of them: what they are done with, in order, is the output of the step. If one
    /// fails, the attempt has failed, the others are cancelled, and the next attempt submits new jobs.
    pub fn wait<T>(self) -> Waiting<Vec<T>> {
        Waiting::new(self.0)
    }

    /// Ends the attempt by waiting for all of them, however they end.
    pub fn outcomes<T>(self) -> Waiting<Vec<Outcome<T>>> {
        Waiting::new(Wait { outcomes: true, ..self.0 })
    }
}
