//! New jobs.

use std::ops::RangeInclusive;
use std::time::Duration;

use serde_json::Value;

use super::problem::named;
use super::transition::Transition;
use super::{
    JobId, JobNeeds, JobProblem, JobRow, JobRows, JobState, JobWrites, Jobs, Seq, TraceKind, Wait,
};
use crate::{Command, Limits, Refusal, Timestamp, check_payload};

/// A moment, as a caller can say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// This one.
    At(Timestamp),
    /// So long after the database's now.
    In(Duration),
}

/// The longest span that is taken: a hundred years.
pub const LONGEST: Duration = Duration::from_hours(876_600);

/// Moments that every database keeps, and every clock shows: the years 1 to 9998.
pub(crate) const MOMENTS: RangeInclusive<i64> = -62_135_596_800_000_000..=253_370_764_800_000_000;

/// Whether a span is one that somebody may wait for.
pub(super) fn check_span(what: &'static str, span: Duration) -> Result<(), JobProblem> {
    if span > LONGEST { Err(JobProblem::Time(what)) } else { Ok(()) }
}

/// Whether a moment is one that a clock will show, if there is one.
pub(super) fn check_moment(what: &'static str, moment: Option<Moment>) -> Result<(), JobProblem> {
    match moment {
        Some(Moment::In(span)) => check_span(what, span),
        Some(Moment::At(at)) if !MOMENTS.contains(&at.micros()) => Err(JobProblem::Time(what)),
        Some(Moment::At(_)) | None => Ok(()),
    }
}

impl Moment {
    /// When that is.
    pub fn resolve(self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(moment) => moment,
            Self::In(duration) => now + duration,
        }
    }
}

/// A job to submit.
#[derive(Clone, Debug, PartialEq)]
pub struct NewJob {
    /// Its name for ever.
    pub id: JobId,
    /// The capability that it needs first.
    pub need: String,
    /// What it is about.
    pub payload: Value,
    /// Greater ones go first.
    pub priority: i32,
    /// One leased job per key at a time, over all needs.
    pub key: Option<String>,
    /// What it waits for: jobs that are there, or before it in the same call, and runs.
    pub after: Vec<Wait>,
    /// Not before this.
    pub wake: Option<Moment>,
    /// Not leased after this.
    pub expires: Option<Moment>,
    /// How many attempts its need has; without it, any number.
    pub max_attempts: Option<u32>,
}

impl NewJob {
    /// That may be leased at once.
    pub fn new(id: JobId, need: impl Into<String>, payload: impl Into<Value>) -> Self {
        Self {
            id,
            need: need.into(),
            payload: payload.into(),
            priority: 0,
            key: None,
            after: Vec::new(),
            wake: None,
            expires: None,
            max_attempts: None,
        }
    }

    /// Whether it can be submitted, as far as that does not depend on other jobs.
    pub fn check(&self, limits: &Limits) -> Result<(), JobProblem> {
        named("need", &self.need)?;
        self.key.as_deref().map_or(Ok(()), |key| named("key", key))?;
        check_attempts(self.max_attempts)?;
        check_moment("moment that it wakes", self.wake)?;
        check_moment("moment that it expires", self.expires)?;
        payload("the job's payload", &self.payload, limits)?;
        not_itself(&self.id, &self.after)
    }

    fn row(&self, seq: Seq, now: Timestamp) -> JobRow {
        JobRow {
            seq,
            need: self.need.clone(),
            priority: self.priority,
            state: JobState::Ready,
            wake_at: self.wake.map(|moment| moment.resolve(now)),
            waits: 0,
            key: self.key.clone(),
            expires_at: self.expires.map(|moment| moment.resolve(now)),
            attempts: 0,
            forgiven: 0,
            failures: 0,
            lapses: 0,
            streak: 0,
            max_attempts: self.max_attempts,
            cancel: None,
            lease: None,
            settled: None,
            created_at: now,
        }
    }
}

/// No job waits for itself.
pub(super) fn not_itself(id: &JobId, waits: &[Wait]) -> Result<(), JobProblem> {
    let is_itself = |wait: &Wait| wait.on.job() == Some(id);
    if waits.iter().any(is_itself) { Err(JobProblem::WaitsForItself) } else { Ok(()) }
}

pub(super) fn check_attempts(max_attempts: Option<u32>) -> Result<(), JobProblem> {
    if max_attempts == Some(0) { Err(JobProblem::NoAttempts) } else { Ok(()) }
}

pub(super) fn payload(
    what: &'static str,
    value: &Value,
    limits: &Limits,
) -> Result<(), JobProblem> {
    check_payload(value, limits).map_err(|source| JobProblem::Payload { what, source })
}

/// What became of a submit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submitted {
    /// The job is there.
    Submitted,
    /// There is a job of this name, or there was one.
    Exists,
}

/// Submits jobs; one that is refused does not keep the others out. There is an answer for each, in their order.
#[derive(Clone, Copy, Debug)]
pub struct Submit<'a> {
    /// The jobs.
    pub jobs: &'a [NewJob],
    /// Who submits them.
    pub by: &'a str,
    /// What payloads may be.
    pub limits: Limits,
}

impl Command<Jobs> for Submit<'_> {
    type Answer = Vec<Result<Submitted, JobProblem>>;

    fn needs(&self) -> JobNeeds {
        let mut needs = JobNeeds::default();
        needs.submits(self.jobs);
        needs
    }

    fn decide<'c>(
        &'c self,
        rows: &mut JobRows,
        now: Timestamp,
    ) -> Result<(Self::Answer, JobWrites<'c>), Refusal> {
        let mut transition = Transition::new(rows, now, Some(self.by));
        let answers = self.jobs.iter().map(|job| submit(&mut transition, job, &self.limits));
        let answers = answers.collect();
        Ok((answers, transition.done()?))
    }
}

impl JobNeeds {
    /// What new jobs look at.
    pub(super) fn submits(&mut self, jobs: &[NewJob]) {
        for job in jobs {
            self.jobs.insert(job.id.clone());
            self.dependencies(&job.after);
            if let Some(key) = &job.key {
                self.line(key);
            }
        }
    }
}

/// Submits a job, or says what is wrong with it and changes nothing.
pub(super) fn submit<'c>(
    transition: &mut Transition<'_, 'c>,
    new: &'c NewJob,
    limits: &Limits,
) -> Result<Submitted, JobProblem> {
    new.check(limits)?;
    if transition.rows.row(&new.id).is_some() {
        return Ok(Submitted::Exists);
    }
    let waits = transition.look_at(&new.after)?;
    let seq = Seq::New(u32::try_from(transition.writes.inserted.len()).unwrap_or(u32::MAX));
    transition.rows.jobs.insert(new.id.clone(), new.row(seq, transition.now));
    transition.writes.inserted.push(new.id.clone());
    transition.writes.payloads.insert(new.id.clone(), &new.payload);
    transition.trace(&new.id, TraceKind::Submitted, None);
    transition.wait(&new.id, waits);
    Ok(Submitted::Submitted)
}
