//! Submitting jobs.

use std::fmt::Display;
use std::future::IntoFuture;
use std::marker::PhantomData;
use std::pin::Pin;

use pgflow_backend::weight::weight;
use pgflow_machine::job::{JobId, NewJob, Submitted, check_name};
use pgflow_machine::permit::Message;
use serde_json::Value;

use super::{JobHandle, ask};
use crate::check::{Lasts, PayloadOf, PayloadsOf, WaitsFor};
use crate::client::{ClientError, ask_pipelines};
use crate::db::Db;
use crate::job::{JobSpec, Need};
use crate::{DataError, SubmitIn, Timestamp};

/// Jobs that one call submits, and about how many bytes: a statement takes no more than a database takes at once, and less time than
/// an answer may.
const BATCH: usize = 500;
const BATCH_BYTES: usize = 8_000_000;

/// A type that does not mention the transaction: of what is none, the compiler would say so at each mention.
type Submitting<'a> = Pin<Box<dyn Future<Output = Result<JobHandle, ClientError>> + Send + 'a>>;

/// The fair key of jobs whose need other programs define.
const RAW: &str = "raw";

/// Who submits, in traces, unless somebody says so.
const SOMEBODY: &str = "client";

impl Db {
    /// A job that needs this first, to be submitted by `.await`. Its payload is checked by the compiler.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # #[job] mod ping { use super::*; #[need] pub async fn pong(job: u8) -> Result<Next> { Ok(Next::done(job)) } }
    /// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let db = Db::connect("memory:").await?;
    /// let job = db.submit::<ping::pong>(&7).id("ping-7").key("table 1").await?;
    /// assert!(job.is_new());
    /// assert_eq!(job.status().await?.to_string(), "READY");
    /// let again = db.submit::<ping::pong>(&8).id("ping-7").await?; // a name is used once
    /// assert!(!again.is_new());
    /// # Ok(()) })
    /// # }
    /// ```
    pub fn submit<N: Need>(&self, payload: impl PayloadOf<N::Payload>) -> Submit<'_, N> {
        Submit::new(self, JobSpec::<N>::new(payload).map(JobSpec::into_new))
    }

    /// A job as part of the application's transaction: it exists if and only if that commits. See [`SubmitIn`] for what
    /// takes one, and [`Submit::within`] for a job with options.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn submit_in<'a, N: Need>(&'a self, tx: &'a mut (impl SubmitIn + Send + ?Sized), payload: impl PayloadOf<N::Payload>) -> Submitting<'a> {
        Box::pin(self.submit::<N>(payload).within(tx))
    }

    /// A job whose need other programs, or other languages, define: its payload is any JSON. One that nobody serves waits for who will
    /// ([`why_need`](Self::why_need) says so). At a queue with [`fair_by`](crate::pipeline::Queue::fair_by) all of these have turns like
    /// those of one key, unless a priority is said.
    ///
    /// ```
    /// # use pgflow::prelude::*;
    /// # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let db = Db::connect("memory:").await?;
    /// let job = db.submit_raw("python.transform", serde_json::json!({ "rows": 3 })).await?;
    /// assert_eq!(job.status().await?.to_string(), "READY");
    /// # Ok(()) })
    /// # }
    /// ```
    pub fn submit_raw(&self, need: &str, payload: Value) -> Submit<'_, ()> {
        let submit = Submit::new(self, Ok(NewJob::new(JobId::new(), need, payload)));
        Submit { is_raw: true, ..submit }
    }

    /// A job per payload, in few calls: those that are refused are an error, after the others were submitted.
    pub async fn submit_all<N: Need>(
        &self,
        payloads: impl PayloadsOf<N::Payload, Each: Sized>,
    ) -> Result<Vec<JobHandle>, ClientError> {
        let specs = payloads.each().map(|payload| JobSpec::<N>::new(&payload));
        let jobs = specs.map(|spec| spec.map(JobSpec::into_new)).collect::<Result<Vec<_>, _>>()?;
        let mut handles = Vec::with_capacity(jobs.len());
        for batch in batches(jobs) {
            handles.extend(send(self, batch, SOMEBODY.to_owned()).await?);
        }
        Ok(handles)
    }
}

/// Jobs as they are submitted together. One that is too heavy for any batch is one.
fn batches(jobs: Vec<NewJob>) -> Vec<Vec<NewJob>> {
    let mut batches: Vec<Vec<NewJob>> = Vec::new();
    let mut room = 0;
    for job in jobs {
        let bytes = weight(&job.payload);
        let fits = |batch: &&mut Vec<NewJob>| batch.len() < BATCH && bytes <= room;
        if let Some(batch) = batches.last_mut().filter(fits) {
            room -= bytes;
            batch.push(job);
        } else {
            room = BATCH_BYTES.saturating_sub(bytes);
            batches.push(vec![job]);
        }
    }
    batches
}

/// Submits jobs, each of its own.
async fn send(db: &Db, jobs: Vec<NewJob>, by: String) -> Result<Vec<JobHandle>, ClientError> {
    let ids: Vec<JobId> = jobs.iter().map(|job| job.id.clone()).collect();
    let answers = ask(db, (jobs, by), |jobs, (new, by)| jobs.submit_jobs(new, by)).await?;
    let handles = ids.into_iter().zip(answers).map(|(id, answer)| {
        let submitted = answer.map_err(|source| ClientError::Job { job: id.clone(), source })?;
        Ok(JobHandle::new(db.clone(), id, submitted == Submitted::Submitted))
    });
    handles.collect()
}

/// A job that is submitted when this is awaited.
///
/// A future that is dropped may have submitted it or not; with an [`id`](Self::id) of its own, submitting it again finds out.
#[must_use = "a job is submitted with `.await`"]
#[derive(Debug)]
pub struct Submit<'a, N> {
    db: &'a Db,
    job: Result<NewJob, ClientError>,
    by: String,
    /// Its need is what somebody called it, and may be a queue.
    is_raw: bool,
    need: PhantomData<fn() -> N>,
}

impl<'a, N> Submit<'a, N> {
    fn new(db: &'a Db, job: Result<NewJob, DataError>) -> Self {
        let (job, by) = (job.map_err(ClientError::Data), SOMEBODY.to_owned());
        Self { db, job, by, is_raw: false, need: PhantomData }
    }

    fn with(mut self, change: impl FnOnce(&mut NewJob)) -> Self {
        if let Ok(job) = &mut self.job {
            change(job);
        }
        self
    }

    /// Its name for ever. If there is a job of this name, or was one, that one is returned.
    pub fn id(mut self, id: impl AsRef<str>) -> Self {
        match id.as_ref().parse() {
            Ok(id) => self.with(|job| job.id = id),
            Err(error) => {
                self.job = self.job.and(Err(ClientError::JobId(error)));
                self
            }
        }
    }

    /// A singleton: one leased job per key at a time, over all needs and processes.
    pub fn key(self, key: impl Display) -> Self {
        self.with(|job| job.key = Some(key.to_string()))
    }

    /// Greater ones go first; 0 if it is not said.
    pub fn priority(self, priority: i32) -> Self {
        self.with(|job| job.priority = priority)
    }

    /// How often it may be claimed for its need before it fails; what the need's definition says if it is not said.
    pub fn max_attempts(self, attempts: u32) -> Self {
        self.with(|job| job.max_attempts = Some(attempts))
    }

    /// Not before these are over: jobs, and runs of flows.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn after<I>(self, waits: I) -> Self where Self: WaitsFor<I> {
        self.with(|job| job.after.extend(<Self as WaitsFor<I>>::waits(waits)))
    }

    /// Not before so much time has passed, by the database's clock.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn delay<D>(self, delay: D) -> Self where Self: Lasts<D> {
        let delay = <Self as Lasts<D>>::time(delay);
        self.with(|job| job.wake = Some(pgflow_machine::job::Moment::In(delay)))
    }

    /// Not before this moment.
    pub fn at(self, moment: Timestamp) -> Self {
        self.with(|job| job.wake = Some(pgflow_machine::job::Moment::At(moment)))
    }

    /// Not leased any more after so much time.
    #[rustfmt::skip] // One line, which the compiler shows.
    pub fn expires_in<D>(self, after: D) -> Self where Self: Lasts<D> {
        let after = <Self as Lasts<D>>::time(after);
        self.with(|job| job.expires = Some(pgflow_machine::job::Moment::In(after)))
    }

    /// Who submits it, for its trace.
    pub fn by(self, name: impl Into<String>) -> Self {
        Self { by: name.into(), ..self }
    }

    /// Submits it in a transaction: see [`Db::submit_in`]. Workers may take a second to notice it.
    pub async fn within(
        self,
        tx: &mut (impl SubmitIn + Send + ?Sized),
    ) -> Result<JobHandle, ClientError> {
        let (db, job, by) = (self.db.clone(), self.job?, self.by);
        let submitted = tx.submit_job(&job, &by).await?;
        let submitted =
            submitted.map_err(|source| ClientError::Job { job: job.id.clone(), source })?;
        Ok(JobHandle::new(db, job.id, submitted == Submitted::Submitted))
    }

    async fn send(self) -> Result<JobHandle, ClientError> {
        let job = self.job?;
        if self.is_raw && job.priority == 0 && is_fair(self.db, &job.need).await? {
            return push(self.db, job, self.by).await;
        }
        let sent = send(self.db, vec![job], self.by).await?;
        sent.into_iter().next().ok_or_else(|| ClientError::Backend(no_answer()))
    }
}

/// Whether it is a queue whose messages have places.
async fn is_fair(db: &Db, need: &str) -> Result<bool, ClientError> {
    match db.backend().pipelines() {
        Ok(queues) if check_name(need).is_ok() => Ok(queues.is_fair(need).await?),
        _ => Ok(false),
    }
}

/// Submits a job that gets a place in a fair queue: without one, it would be behind all that ever comes.
async fn push(db: &Db, job: NewJob, by: String) -> Result<JobHandle, ClientError> {
    let id = job.id.clone();
    let message = Message { fair: Some(RAW.to_owned()), ..job.into() };
    let about = (vec![message], by);
    let answers = ask_pipelines(db, about, |queues, (new, by)| queues.push(new, by)).await?;
    let answer = answers.into_iter().next().ok_or_else(|| ClientError::Backend(no_answer()))?;
    let submitted = answer.map_err(|source| ClientError::Job { job: id.clone(), source })?;
    Ok(JobHandle::new(db.clone(), id, submitted == Submitted::Submitted))
}

fn no_answer() -> crate::backend::BackendError {
    crate::backend::BackendError::Refused("the database did not answer about the job".into())
}

impl<'a, N: 'static> IntoFuture for Submit<'a, N> {
    type Output = Result<JobHandle, ClientError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

#[cfg(test)]
mod tests {
    use pgflow_machine::permit::place_of;

    use super::*;

    /// It would be behind two thousand million others.
    #[test]
    fn what_is_submitted_raw_to_a_fair_queue_has_its_turn() {
        let db = Db::new(crate::memory::Memory::new());
        let queue = crate::pipeline::Queue::<u32>::named("fair").fair_by(|_| "flood".to_owned());
        crate::testing::block_on(async {
            queue.push_all(&db, &[1, 2, 3]).await?;
            let raw = db.submit_raw("fair", Value::from(4)).await?;
            let place = async |job: &JobHandle| {
                Ok::<_, ClientError>(place_of(job.record().await?.summary.row.priority))
            };
            assert_eq!(place(&raw).await?, 1, "the next round");
            let next = db.submit_raw("fair", Value::from(5)).await?;
            assert_eq!(place(&next).await?, 2, "they have turns of their own");
            let said = db.submit_raw("fair", Value::from(6)).priority(7).await?;
            assert_eq!(said.record().await?.summary.row.priority, 7);
            let nowhere = db.submit_raw("nowhere", Value::from(7)).await?;
            assert_eq!(nowhere.record().await?.summary.row.priority, 0);
            let why = db.why_job(nowhere.id()).await?;
            assert_eq!(why.reasons[0].code(), "no-worker", "it waits for who will serve it");
            Ok::<_, ClientError>(())
        })
        .expect("a database in memory");
    }

    fn sizes(payloads: &[usize]) -> Vec<usize> {
        let job = |bytes: &usize| {
            NewJob::new(JobId::new(), "n", Value::from("x".repeat(bytes.saturating_sub(2))))
        };
        batches(payloads.iter().map(job).collect()).iter().map(Vec::len).collect()
    }

    #[test]
    fn a_batch_is_cut_by_number_and_by_bytes() {
        assert_eq!(sizes(&[]), [0; 0]);
        assert_eq!(sizes(&[2; 2 * BATCH + 1]), [BATCH, BATCH, 1]);
        let third = BATCH_BYTES / 3;
        assert_eq!(sizes(&[third; 7]), [3, 3, 1]);
        assert_eq!(sizes(&[2, BATCH_BYTES, 2, 2]), [1, 1, 2], "nothing goes with it");
        assert_eq!(sizes(&[BATCH_BYTES + 1, 2]), [1, 1], "it goes alone, and is refused or not");
    }
}
