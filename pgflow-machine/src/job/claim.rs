//! What a claim takes.

use std::time::Duration;

use super::problem::named;
use super::submit::check_span;
use super::transition::Transition;
use super::{
    JobHold, JobId, JobLease, JobNeeds, JobProblem, JobRow, JobRows, JobState, JobToken, JobWrites,
    Jobs, TraceKind,
};
use crate::work::CLAIM_BYTES;
use crate::{Command, Refusal, Timestamp};

/// What a worker wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobClaim {
    /// Who it is.
    pub worker: String,
    /// What it can do.
    pub needs: Vec<String>,
    /// How long its leases last.
    pub lease: Duration,
    /// Jobs at most.
    pub max: u32,
}

impl JobClaim {
    /// Whether it can be granted at all.
    pub fn check(&self) -> Result<(), JobProblem> {
        named("worker", &self.worker)?;
        self.needs.iter().try_for_each(|need| named("need", need))?;
        if self.needs.is_empty() {
            return Err(JobProblem::NoNeeds);
        }
        if self.max == 0 {
            return Err(JobProblem::NoRoom);
        }
        check_lease(self.lease)
    }

    /// What may be taken of it: nothing of needs that are paused.
    #[must_use]
    pub fn without(mut self, paused: &[String]) -> Self {
        self.needs.retain(|need| !paused.contains(need));
        self
    }
}

/// A lease must not be over at once, and end some time.
pub(super) fn check_lease(lease: Duration) -> Result<(), JobProblem> {
    if lease < Duration::from_micros(1) {
        return Err(JobProblem::ShortLease(lease));
    }
    check_span("end of the lease", lease)
}

/// A job that may be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadyJob {
    /// The job.
    pub id: JobId,
    /// How many bytes its payload has.
    pub bytes: usize,
}

/// Those of a line that a claim may hand out with what it has already, so many bytes: 64 MB in all, and one job in any case. What
/// comes after the first that does not fit waits too: it would overtake for ever.
///
/// ```
/// use pgflow_machine::job::{ReadyJob, fitting};
///
/// let job = |name: &str, bytes| ReadyJob { id: name.parse().expect("a name"), bytes };
/// let line = [job("a", 60_000_000), job("b", 5_000_000), job("c", 1)];
/// assert_eq!(fitting(&line, 0), &line[..1]);
/// assert_eq!(fitting(&line, 1), &line[..1]);
/// assert_eq!(fitting(&line[1..], 60_000_000), []);
/// ```
pub fn fitting(line: &[ReadyJob], taken: usize) -> &[ReadyJob] {
    let mut all = taken;
    let is_too_much = |job: &ReadyJob| {
        let is_first = all == 0;
        all = all.saturating_add(job.bytes);
        !is_first && all > CLAIM_BYTES
    };
    let fitting = line.iter().position(is_too_much).unwrap_or(line.len());
    &line[..fitting]
}

/// A job that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenJob {
    /// The job and its token.
    pub hold: JobHold,
    /// Its row.
    pub row: JobRow,
    /// When the lease lapses.
    pub until: Timestamp,
}

/// Takes those of these jobs that can be had, the first in line first. What cannot be had is put where no claim finds it.
#[derive(Clone, Copy, Debug)]
pub struct TakeJobs<'a> {
    /// Ready jobs of the claimed needs, as a look has found them.
    pub candidates: &'a [JobId],
    /// A new token for each.
    pub tokens: &'a [JobToken],
    /// Who takes them.
    pub worker: &'a str,
    /// For how long.
    pub lease: Duration,
}

impl Command<Jobs> for TakeJobs<'_> {
    type Answer = Vec<TakenJob>;

    fn needs(&self) -> JobNeeds {
        JobNeeds::of_jobs(self.candidates)
    }

    fn more(&self, rows: &JobRows) -> JobNeeds {
        let mut needs = JobNeeds::default();
        needs.lines_of(rows, self.candidates);
        needs
    }

    fn decide<'c>(
        &'c self,
        rows: &mut JobRows,
        now: Timestamp,
    ) -> Result<(Vec<TakenJob>, JobWrites<'c>), Refusal> {
        let mut line: Vec<_> =
            self.candidates.iter().filter(|id| rows.jobs.contains_key(*id)).collect();
        line.sort_by_key(|id| rows.jobs[*id].place());
        let mut transition = Transition::new(rows, now, Some(self.worker));
        let mut tokens = self.tokens.iter();
        let mut taken = Vec::new();
        for id in line {
            taken.extend(self.take(&mut transition, id, &mut tokens));
        }
        Ok((taken, transition.done()?))
    }
}

impl TakeJobs<'_> {
    fn take<'t>(
        &self,
        transition: &mut Transition<'_, '_>,
        id: &JobId,
        tokens: &mut impl Iterator<Item = &'t JobToken>,
    ) -> Option<TakenJob> {
        let now = transition.now;
        let row = transition.rows.jobs.get(id).filter(|row| row.state == JobState::Ready)?;
        if row.is_expired(now) {
            transition.arrive(id);
            return None;
        }
        let key = row.key.clone();
        if let Some(key) = key.as_ref().filter(|key| transition.is_held(key)) {
            transition.disturbed.insert(key.clone());
            return None;
        }
        let (token, until) = (tokens.next()?.clone(), now + self.lease);
        let row = transition.change(id)?;
        (row.state, row.wake_at) = (JobState::Leased, None);
        row.attempts += 1;
        row.lease = Some(JobLease { token: token.clone(), until, worker: self.worker.to_owned() });
        let answer = TakenJob {
            hold: JobHold { job: id.clone(), token: token.clone() },
            row: row.clone(),
            until,
        };
        transition.writes.leases.insert(id.clone());
        if let Some(key) = key {
            transition.set_key(key, Some(id.clone()));
        }
        transition.trace(id, TraceKind::Claimed, Some(token));
        Some(answer)
    }
}
