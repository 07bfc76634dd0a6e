//! What people do with jobs that no worker has.

use serde_json::Value;

use super::settle::hand_over;
use super::transition::{End, Transition};
use super::upkeep::lapse;
use super::{
    Dependency, HandOver, JobId, JobNeeds, JobOutcome, JobProblem, JobRows, JobState, JobStatus,
    JobWrites, Jobs, TraceKind,
};
use crate::{Command, Limits, Refusal, Timestamp};

/// What became of the clearing of a crash concern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConcernCleared {
    /// The job goes on.
    Cleared,
    /// There was no concern.
    NoConcern,
    /// There is no such live job.
    Unknown,
}

/// Lets jobs go on that have lost too many workers in a row, a lease that has run out unnoticed counted; an answer for each.
#[derive(Clone, Copy, Debug)]
pub struct ClearConcern<'a> {
    /// Which ones.
    pub jobs: &'a [JobId],
    /// Who says so.
    pub by: &'a str,
}

impl Command<Jobs> for ClearConcern<'_> {
    type Answer = Vec<ConcernCleared>;

    fn needs(&self) -> JobNeeds {
        JobNeeds::of_jobs(self.jobs)
    }

    fn more(&self, rows: &JobRows) -> JobNeeds {
        let mut needs = JobNeeds::default();
        // A lease that has run out unnoticed may have been the last.
        needs.ends(rows, self.jobs.iter().cloned().map(Dependency::Job));
        needs
    }

    fn decide<'c>(
        &'c self,
        rows: &mut JobRows,
        now: Timestamp,
    ) -> Result<(Vec<ConcernCleared>, JobWrites<'c>), Refusal> {
        let mut transition = Transition::new(rows, now, Some(self.by));
        let answers = self.jobs.iter().map(|id| clear(&mut transition, id)).collect();
        Ok((answers, transition.done()?))
    }
}

fn clear(transition: &mut Transition<'_, '_>, id: &JobId) -> ConcernCleared {
    lapse(transition, id);
    let Some(row) = transition.rows.jobs.get(id) else { return ConcernCleared::Unknown };
    if row.state != JobState::Concern {
        return ConcernCleared::NoConcern;
    }
    if let Some(row) = transition.change(id) {
        row.streak = 0;
    }
    transition.trace(id, TraceKind::Cleared, None);
    transition.arrive(id);
    ConcernCleared::Cleared
}

/// What an operator does with a job without a lease.
#[derive(Clone, Debug, PartialEq)]
pub enum Unheld {
    /// It is done, with this output.
    Complete(Value),
    /// It needs something else now.
    Reschedule(HandOver),
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operated {
    /// It took effect.
    Applied,
    /// Only what is ready, expired, or in crash concern may be touched, and this is not.
    NotAllowed(JobStatus),
    /// It can't be.
    Refused(JobProblem),
    /// There is no such live job.
    Unknown,
}

/// Completes or reschedules a job that nobody has.
#[derive(Clone, Copy, Debug)]
pub struct Operate<'a> {
    /// Which one.
    pub job: &'a JobId,
    /// Who does it.
    pub by: &'a str,
    /// What.
    pub act: &'a Unheld,
    /// What payloads may be.
    pub limits: Limits,
}

impl Command<Jobs> for Operate<'_> {
    type Answer = Operated;

    fn needs(&self) -> JobNeeds {
        let mut needs = JobNeeds::of_jobs([self.job]);
        if let Unheld::Reschedule(to) = self.act {
            needs.dependencies(&to.after);
            needs.rings(&to.after);
        }
        needs
    }

    fn more(&self, rows: &JobRows) -> JobNeeds {
        let mut needs = JobNeeds::default();
        needs.ends(rows, [Dependency::Job(self.job.clone())]);
        needs
    }

    fn decide<'c>(
        &'c self,
        rows: &mut JobRows,
        now: Timestamp,
    ) -> Result<(Operated, JobWrites<'c>), Refusal> {
        let mut transition = Transition::new(rows, now, Some(self.by));
        let answer = self.operate(&mut transition);
        Ok((answer, transition.done()?))
    }
}

impl<'a> Operate<'a> {
    fn operate<'c>(&self, transition: &mut Transition<'_, 'c>) -> Operated
    where
        'a: 'c,
    {
        lapse(transition, self.job);
        let Some(row) = transition.rows.jobs.get(self.job) else { return Operated::Unknown };
        match row.status(transition.now) {
            JobStatus::Ready | JobStatus::CrashConcern | JobStatus::Expired => {}
            status => return Operated::NotAllowed(status),
        }
        let done = match self.act {
            Unheld::Reschedule(to) => hand_over(transition, self.job, to, &self.limits),
            Unheld::Complete(output) => self.complete(transition, output),
        };
        done.map_or_else(Operated::Refused, |()| Operated::Applied)
    }

    fn complete<'c>(
        &self,
        transition: &mut Transition<'_, 'c>,
        output: &'c Value,
    ) -> Result<(), JobProblem> {
        super::submit::payload("the job's output", output, &self.limits)?;
        if let Some(row) = transition.change(self.job) {
            row.streak = 0;
        }
        let end = End { outcome: JobOutcome::Done, output: Some(output), detail: None };
        transition.end(self.job, end);
        Ok(())
    }
}
