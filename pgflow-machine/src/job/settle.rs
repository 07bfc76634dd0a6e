//! How attempts ended.

use serde_json::{Value, json};

use super::problem::named;
use super::submit::{check_attempts, check_moment, check_span, not_itself, payload, submit};
use super::transition::{End, Transition};
use super::{
    Dependency, HandOver, JobId, JobNeeds, JobOutcome, JobProblem, JobRetry, JobRows, JobSettle,
    JobSettled, JobToken, JobVerdict, JobWrites, Jobs, TraceKind,
};
use crate::{Command, Limits, Refusal, Timestamp, cut_error};

/// Settles attempts, in this order; there is an outcome for each.
#[derive(Clone, Copy, Debug)]
pub struct SettleJobs<'a> {
    /// The attempts.
    pub settles: &'a [JobSettle],
    /// Who held them.
    pub by: &'a str,
    /// What payloads may be.
    pub limits: Limits,
}

impl Command<Jobs> for SettleJobs<'_> {
    type Answer = Vec<JobSettled>;

    fn needs(&self) -> JobNeeds {
        let mut needs = JobNeeds::of_jobs(self.settles.iter().map(|settle| &settle.hold.job));
        for hand_over in self.hand_overs() {
            needs.dependencies(&hand_over.after);
            needs.rings(&hand_over.after);
        }
        for settle in self.settles {
            needs.submits(&settle.submits);
            settle.submits.iter().for_each(|new| needs.rings(&new.after));
        }
        needs
    }

    fn more(&self, rows: &JobRows) -> JobNeeds {
        let mut needs = JobNeeds::default();
        let held = |settle: &&JobSettle| {
            let row = rows.jobs.get(&settle.hold.job);
            row.is_some_and(|row| row.is_held_with(&settle.hold.token))
        };
        let ending = self.settles.iter().filter(held);
        needs.ends(rows, ending.map(|settle| Dependency::Job(settle.hold.job.clone())));
        needs
    }

    fn decide<'c>(
        &'c self,
        rows: &mut JobRows,
        now: Timestamp,
    ) -> Result<(Vec<JobSettled>, JobWrites<'c>), Refusal> {
        let mut transition = Transition::new(rows, now, Some(self.by));
        let settle = |settle| self.settle(&mut transition, settle);
        let outcomes = self.settles.iter().map(settle).collect();
        Ok((outcomes, transition.done()?))
    }
}

impl<'a> SettleJobs<'a> {
    fn hand_overs(&self) -> impl Iterator<Item = &'a HandOver> {
        self.settles.iter().filter_map(|settle| match &settle.verdict {
            JobVerdict::HandedOver(hand_over) => Some(hand_over),
            _ => None,
        })
    }

    fn settle<'c>(&self, transition: &mut Transition<'_, 'c>, settle: &'c JobSettle) -> JobSettled {
        let (id, token) = (&settle.hold.job, &settle.hold.token);
        if let Some(refusal) = refusal(transition.rows, id, token) {
            return refusal;
        }
        let is_cancelled = transition.rows.jobs.get(id).is_some_and(|row| row.cancel.is_some());
        if is_cancelled && !matches!(settle.verdict, JobVerdict::Finished(_)) {
            transition.end_cancelled(id);
            return JobSettled::Cancelled;
        }
        match self.apply(transition, settle) {
            Ok(()) => JobSettled::Applied,
            Err(problem) => JobSettled::Refused(problem),
        }
    }

    /// Nothing has changed if there is a problem.
    fn apply<'c>(
        &self,
        transition: &mut Transition<'_, 'c>,
        settle: &'c JobSettle,
    ) -> Result<(), JobProblem> {
        let id = &settle.hold.job;
        settle.check(&self.limits)?;
        transition.check_forks(settle)?;
        for new in &settle.submits {
            submit(transition, new, &self.limits)?;
        }
        match &settle.verdict {
            JobVerdict::Finished(output) => finish(transition, id, output),
            JobVerdict::Failed { error, retry } => fail(transition, id, error, *retry),
            JobVerdict::Released => release(transition, id),
            JobVerdict::HandedOver(to) => hand_over(transition, id, to, &self.limits)?,
        }
        Ok(())
    }
}

fn finish<'c>(transition: &mut Transition<'_, 'c>, id: &JobId, output: &'c Value) {
    if let Some(row) = transition.change(id) {
        row.streak = 0;
    }
    transition.end(id, End { outcome: JobOutcome::Done, output: Some(output), detail: None });
}

/// What a settle is told that takes no effect.
fn refusal(rows: &JobRows, id: &JobId, token: &JobToken) -> Option<JobSettled> {
    let Some(row) = rows.row(id) else { return Some(JobSettled::Unknown) };
    if rows.jobs.contains_key(id) && row.is_held_with(token) {
        return None;
    }
    let is_settled = row.settled.as_ref() == Some(token);
    Some(if is_settled { JobSettled::AlreadySettled } else { JobSettled::Fenced })
}

/// Ends the lease, as said by who has it.
fn settled(transition: &mut Transition<'_, '_>, id: &JobId) -> Option<JobToken> {
    let token = transition.let_go(id)?;
    let row = transition.change(id)?;
    row.settled = Some(token.clone());
    Some(token)
}

fn fail(transition: &mut Transition<'_, '_>, id: &JobId, error: &str, retry: JobRetry) {
    let now = transition.now;
    let Some(row) = transition.change(id) else { return };
    row.failures += 1;
    let delay = match retry {
        JobRetry::After(delay) if !row.is_out_of_attempts() => Some(delay),
        _ => None,
    };
    let error = cut_error(error).replace('\0', "\u{fffd}");
    transition.writes.errors.insert(id.clone(), error);
    let Some(delay) = delay else { return transition.end(id, JobOutcome::Failed) };
    let token = settled(transition, id);
    if let Some(row) = transition.change(id) {
        row.wake_at = (!delay.is_zero()).then(|| now + delay);
    }
    transition.trace_with(id, TraceKind::Failed, token, Some(json!({ "retry": true })));
    transition.arrive(id);
}

fn release(transition: &mut Transition<'_, '_>, id: &JobId) {
    let token = settled(transition, id);
    if let Some(row) = transition.change(id) {
        row.attempts = row.attempts.saturating_sub(1);
    }
    transition.trace(id, TraceKind::Released, token);
    transition.arrive(id);
}

impl JobSettle {
    /// Whether it can take effect, as far as that does not depend on other jobs.
    pub fn check(&self, limits: &Limits) -> Result<(), JobProblem> {
        self.verdict.check(&self.hold.job, limits)?;
        self.submits.iter().try_for_each(|new| new.check(limits))
    }
}

impl JobVerdict {
    /// Whether an attempt at this job can end so, as far as that does not depend on other jobs.
    pub fn check(&self, job: &JobId, limits: &Limits) -> Result<(), JobProblem> {
        match self {
            Self::Finished(output) => payload("the job's output", output, limits),
            Self::HandedOver(to) => to.check(job, limits),
            Self::Failed { retry: JobRetry::After(delay), .. } => {
                check_span("delay of the next attempt", *delay)
            }
            Self::Failed { retry: JobRetry::Never, .. } | Self::Released => Ok(()),
        }
    }
}

impl HandOver {
    /// Whether this job can be handed over so, as far as that does not depend on other jobs.
    pub fn check(&self, job: &JobId, limits: &Limits) -> Result<(), JobProblem> {
        named("need", &self.need)?;
        check_attempts(self.max_attempts)?;
        check_moment("moment that it wakes", self.wake)?;
        if let Some(value) = &self.payload {
            payload("the job's payload", value, limits)?;
        }
        not_itself(job, &self.after)
    }
}

/// Hands a job on, also one that nobody has.
pub(super) fn hand_over<'c>(
    transition: &mut Transition<'_, 'c>,
    id: &JobId,
    to: &'c HandOver,
    limits: &Limits,
) -> Result<(), JobProblem> {
    to.check(id, limits)?;
    let waits = transition.look_around(id, &to.after)?;
    let token = settled(transition, id);
    let now = transition.now;
    if let Some(row) = transition.change(id) {
        row.need.clone_from(&to.need);
        (row.max_attempts, row.forgiven, row.streak) = (to.max_attempts, row.attempts, 0);
        row.wake_at = to.wake.map(|moment| moment.resolve(now));
        if to.frees_key {
            row.key = None;
        }
    }
    if let Some(value) = &to.payload {
        transition.writes.payloads.insert(id.clone(), value);
    }
    transition.trace_with(id, TraceKind::HandedOver, token, Some(json!({ "need": to.need })));
    transition.wait(id, waits);
    Ok(())
}
