//! What time does to jobs, and what the end of a run does.

use std::ops::AddAssign;

use super::transition::Transition;
use super::{
    Dependency, JobId, JobNeeds, JobOutcome, JobRow, JobRows, JobState, JobWrites, Jobs, TraceKind,
};
use crate::{Command, Refusal, RunId, RunStatus, Timestamp};

/// What lapsed leases led to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lapses {
    /// Leases that had lapsed.
    pub lapsed: u64,
    /// Jobs of those that are in crash concern now.
    pub concerns: u64,
    /// Jobs of those that have ended: crashed or cancelled.
    pub ended: u64,
}

impl AddAssign for Lapses {
    fn add_assign(&mut self, more: Self) {
        self.lapsed += more.lapsed;
        self.concerns += more.concerns;
        self.ended += more.ended;
    }
}

/// Takes jobs back from workers that are gone: each lapse counts once, whoever sees it first.
#[derive(Clone, Copy, Debug)]
pub struct LapseJobs<'a> {
    /// Jobs whose lease a look has found lapsed; whether it has is looked at again under the lock.
    pub jobs: &'a [JobId],
}

impl Command<Jobs> for LapseJobs<'_> {
    type Answer = Lapses;

    fn needs(&self) -> JobNeeds {
        JobNeeds::of_jobs(self.jobs)
    }

    fn more(&self, rows: &JobRows) -> JobNeeds {
        needs_of_ends(rows, self.jobs)
    }

    fn decide<'c>(
        &'c self,
        rows: &mut JobRows,
        now: Timestamp,
    ) -> Result<(Lapses, JobWrites<'c>), Refusal> {
        each(rows, now, self.jobs, lapse)
    }
}

/// Takes a job back if its lease has lapsed.
pub(super) fn lapse(transition: &mut Transition<'_, '_>, id: &JobId) -> Lapses {
    let has_lapsed = |row: &JobRow| row.has_lapsed(transition.now);
    if !transition.rows.jobs.get(id).is_some_and(has_lapsed) {
        return Lapses::default();
    }
    let token = transition.let_go(id);
    transition.trace(id, TraceKind::Lapsed, token);
    let Some(row) = transition.change(id) else { return Lapses::default() };
    row.lapses += 1;
    row.streak += 1;
    let (is_cancelled, is_out) = (row.cancel.is_some(), row.is_out_of_attempts());
    let ended = Lapses { lapsed: 1, concerns: 0, ended: 1 };
    if is_cancelled {
        transition.end_cancelled(id);
        ended
    } else if is_out {
        transition.end(id, JobOutcome::Crashed);
        ended
    } else {
        transition.arrive(id);
        let is_concern = |row: &JobRow| row.state == JobState::Concern;
        let is_concern = transition.rows.jobs.get(id).is_some_and(is_concern);
        Lapses { lapsed: 1, concerns: u64::from(is_concern), ended: 0 }
    }
}

/// Sets jobs aside that have lost more workers in a row than a new threshold says, and lets those go on that it does not mean. What
/// somebody has is judged when it comes back.
#[derive(Clone, Copy, Debug)]
pub struct JudgeStreaks<'a> {
    /// Jobs that a look has found on the wrong side.
    pub jobs: &'a [JobId],
}

impl Command<Jobs> for JudgeStreaks<'_> {
    type Answer = u64;

    fn needs(&self) -> JobNeeds {
        JobNeeds::of_jobs(self.jobs)
    }

    fn more(&self, rows: &JobRows) -> JobNeeds {
        let mut needs = JobNeeds::default();
        needs.lines_of(rows, self.jobs);
        needs
    }

    fn decide<'c>(
        &'c self,
        rows: &mut JobRows,
        now: Timestamp,
    ) -> Result<(u64, JobWrites<'c>), Refusal> {
        let is_wrong =
            |rows: &JobRows, row: &JobRow| row.is_on_wrong_side_of(rows.threshold_of(row));
        each(rows, now, self.jobs, |transition, id| {
            let row = transition.rows.jobs.get(id);
            let is_wrong = row.is_some_and(|row| is_wrong(transition.rows, row));
            if is_wrong {
                transition.arrive(id);
            }
            u64::from(is_wrong)
        })
    }
}

/// Ends jobs whose time is over and that nobody has. Says how many.
#[derive(Clone, Copy, Debug)]
pub struct ExpireJobs<'a> {
    /// Jobs that a look has found expired.
    pub jobs: &'a [JobId],
}

impl Command<Jobs> for ExpireJobs<'_> {
    type Answer = u64;

    fn needs(&self) -> JobNeeds {
        JobNeeds::of_jobs(self.jobs)
    }

    fn more(&self, rows: &JobRows) -> JobNeeds {
        needs_of_ends(rows, self.jobs)
    }

    fn decide<'c>(
        &'c self,
        rows: &mut JobRows,
        now: Timestamp,
    ) -> Result<(u64, JobWrites<'c>), Refusal> {
        let is_over = |row: &JobRow| row.lease.is_none() && row.is_expired(now);
        each(rows, now, self.jobs, |transition, id| {
            let is_over = transition.rows.jobs.get(id).is_some_and(is_over);
            if is_over {
                transition.end(id, JobOutcome::Expired);
            }
            u64::from(is_over)
        })
    }
}

/// Lets jobs get in line whose sleep is over. Says how many.
#[derive(Clone, Copy, Debug)]
pub struct WakeJobs<'a> {
    /// Jobs that a look has found due.
    pub jobs: &'a [JobId],
}

impl Command<Jobs> for WakeJobs<'_> {
    type Answer = u64;

    fn needs(&self) -> JobNeeds {
        JobNeeds::of_jobs(self.jobs)
    }

    fn more(&self, rows: &JobRows) -> JobNeeds {
        let mut needs = JobNeeds::default();
        needs.lines_of(rows, self.jobs);
        needs
    }

    fn decide<'c>(
        &'c self,
        rows: &mut JobRows,
        now: Timestamp,
    ) -> Result<(u64, JobWrites<'c>), Refusal> {
        let is_due = |row: &JobRow| {
            row.state == JobState::Sleeping && row.wake_at.is_none_or(|wake_at| wake_at <= now)
        };
        each(rows, now, self.jobs, |transition, id| {
            let is_due = transition.rows.jobs.get(id).is_some_and(is_due);
            if is_due {
                transition.arrive(id);
            }
            u64::from(is_due)
        })
    }
}

/// Tells jobs that waited for runs: a store executes it in the transaction that ends the runs.
#[derive(Clone, Copy, Debug)]
pub struct RunsEnded<'a> {
    /// The runs, and how they ended.
    pub runs: &'a [(RunId, RunStatus)],
}

impl Command<Jobs> for RunsEnded<'_> {
    type Answer = ();

    fn needs(&self) -> JobNeeds {
        JobNeeds { waiters: self.dependencies().collect(), ..JobNeeds::default() }
    }

    fn more(&self, rows: &JobRows) -> JobNeeds {
        let mut needs = JobNeeds::default();
        needs.ends(rows, self.dependencies());
        needs
    }

    fn decide<'c>(
        &'c self,
        rows: &mut JobRows,
        now: Timestamp,
    ) -> Result<((), JobWrites<'c>), Refusal> {
        let mut transition = Transition::new(rows, now, None);
        for (run, status) in self.runs {
            let word = (*status != RunStatus::Completed).then(|| status.word());
            transition.over.push_back((Dependency::Run(*run), word));
        }
        Ok(((), transition.done()?))
    }
}

impl RunsEnded<'_> {
    fn dependencies(&self) -> impl Iterator<Item = Dependency> {
        self.runs.iter().map(|(run, _)| Dependency::Run(*run))
    }
}

/// What time does to each of these, added up. In the order in which they came, whatever order a store has found them in: which of
/// two ends comes first may decide how a waiter ends.
fn each<'c, A: Default + AddAssign>(
    rows: &mut JobRows,
    now: Timestamp,
    jobs: &[JobId],
    act: impl Fn(&mut Transition<'_, 'c>, &JobId) -> A,
) -> Result<(A, JobWrites<'c>), Refusal> {
    let mut line: Vec<_> = jobs.iter().collect();
    line.sort_by_key(|id| rows.jobs.get(*id).map(|row| row.seq));
    let mut transition = Transition::new(rows, now, None);
    let mut sum = A::default();
    for id in line {
        sum += act(&mut transition, id);
    }
    Ok((sum, transition.done()?))
}

fn needs_of_ends(rows: &JobRows, jobs: &[JobId]) -> JobNeeds {
    let mut needs = JobNeeds::default();
    needs.ends(rows, jobs.iter().cloned().map(Dependency::Job));
    needs
}
