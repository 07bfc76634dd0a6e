//! Ending runs early, and letting failed ones go on.

use std::time::Duration;

use super::{Payload, Refusal};
use crate::{
    Command, MAX_REQUEUES, Needs, Rows, RunId, RunStatus, StepStatus, TaskRef, TaskRow, TaskStatus,
    TaskWrite, Timestamp, Writes, cut_error, ready_at,
};

/// What became of a cancellation.
///
/// ```
/// use pgflow_machine::{Cancelled, RunStatus};
///
/// let again = Cancelled::Ended(RunStatus::Cancelled);
/// assert_ne!(again, Cancelled::Cancelled, "the first one has ended it");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// The run ended now.
    Cancelled,
    /// It had ended before, like this.
    Ended(RunStatus),
    /// There is no such run.
    Unknown,
}

/// What became of a retry.
///
/// ```
/// use pgflow_machine::{Retried, RunStatus};
///
/// assert_ne!(Retried::NotFailed(RunStatus::Started), Retried::Retried);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retried {
    /// The run goes on.
    Retried,
    /// It has not failed, and was left as it is.
    NotFailed(RunStatus),
    /// There is no such run.
    Unknown,
}

/// Ends a run before it is done.
#[derive(Clone, Copy, Debug)]
pub struct Cancel<'a> {
    /// Which one.
    pub run: RunId,
    /// Why.
    pub reason: Option<&'a str>,
}

impl Command for Cancel<'_> {
    type Answer = Cancelled;

    fn needs(&self) -> Needs {
        Needs::of_runs([self.run])
    }

    fn decide<'c>(
        &'c self,
        rows: &mut Rows,
        _now: Timestamp,
    ) -> Result<(Cancelled, Writes<'c>), Refusal> {
        let mut writes = Writes::default();
        let reason = self.reason.map(cut_error);
        let Some((is_new, change)) = rows.turn(self.run, |turn| turn.cancel(reason)) else {
            return Ok((Cancelled::Unknown, writes));
        };
        if !is_new {
            let status = rows.runs[&self.run].state.status;
            return Ok((Cancelled::Ended(status), writes));
        }
        writes.change(self.run, change);
        writes.cancelled.push((self.run, reason));
        Ok((Cancelled::Cancelled, writes))
    }
}

/// Lets a failed run go on from what failed.
#[derive(Clone, Copy, Debug)]
pub struct RetryRun {
    /// Which one.
    pub run: RunId,
}

impl Command for RetryRun {
    type Answer = Retried;

    fn needs(&self) -> Needs {
        Needs::of_runs([self.run])
    }

    fn more(&self, rows: &Rows) -> Needs {
        let mut needs = Needs::default();
        let run = rows.runs.get(&self.run);
        let Some(run) = run.filter(|run| run.state.status == RunStatus::Failed) else {
            return needs;
        };
        needs.attempted.push(self.run);
        if run.state.wants_input(&run.version.plan) {
            needs.payloads.push((self.run, Payload::RunInput));
        }
        needs.conditions(self.run, run, &[]);
        needs
    }

    fn decide<'c>(
        &'c self,
        rows: &mut Rows,
        now: Timestamp,
    ) -> Result<(Retried, Writes<'c>), Refusal> {
        let mut writes = Writes::default();
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the method is not general enough"
        )]
        let Some((had_failed, change)) = rows.turn(self.run, |turn| turn.retry()) else {
            return Ok((Retried::Unknown, writes));
        };
        if !had_failed? {
            let status = rows.runs[&self.run].state.status;
            return Ok((Retried::NotFailed(status), writes));
        }
        writes.change(self.run, change);
        writes.tasks = attempted(rows, now);
        Ok((Retried::Retried, writes))
    }
}

/// Held, waiting and failed tasks of steps that are open again are queued.
fn attempted<'c>(rows: &Rows, now: Timestamp) -> Vec<TaskWrite<'c>> {
    let is_open = |at: &TaskRef| {
        let run = rows.runs.get(&at.run);
        run.is_some_and(|run| run.state.steps[at.step].status == StepStatus::Started)
    };
    let mut open: Vec<_> = rows.tasks.iter().filter(|(at, _)| is_open(at)).collect();
    open.sort_by_key(|(at, _)| **at);
    let queued = |(at, row): (&TaskRef, &TaskRow)| {
        let row = row.refunded().queued(ready_at(now, Duration::ZERO, at.index));
        TaskWrite { at: *at, row, error: None, yielded: None, output: None }
    };
    open.into_iter().map(queued).collect()
}

impl TaskRow {
    /// What becomes of a task's budget when its failed run goes on: one that had failed, or was lost too often, gets
    /// a fresh one; one that a worker held, or that waited, gets that attempt refunded.
    fn refunded(self) -> Self {
        if self.status == TaskStatus::Failed || self.losses > MAX_REQUEUES {
            Self { refunded: self.attempts, losses: 0, ..self }
        } else if matches!(self.status, TaskStatus::Started | TaskStatus::Waiting) {
            Self { refunded: self.refunded + 1, ..self }
        } else {
            self
        }
    }
}
