//! What ends waits: signals, moments, children, timeouts.

use serde_json::Value;

use super::{Mismatch, Over, WaitRow, mismatch};
use crate::work::{Batch, Fence};
use crate::{
    Command, Entry, Limits, Needs, Refusal, Retry, Rows, Settle, TaskKey, TaskLease, TaskRef,
    Timestamp, Verdict, Writes, check_payload, elements,
};

/// Ends waits that are over, one after the other. Says of each whether that took effect.
#[derive(Debug)]
pub struct EndWaits {
    settles: Vec<Settle>,
    timed_out: Vec<bool>,
    limits: Limits,
}

impl EndWaits {
    /// The waits of these tasks, with the attempts that began them.
    pub fn new(ends: impl IntoIterator<Item = (TaskLease, Over)>, limits: Limits) -> Self {
        let fail = |error| Verdict::Failed { error, retry: Retry::ByPolicy };
        let end = |(lease, over): (TaskLease, Over)| {
            let (verdict, timed_out) = match over {
                Over::Woken(Ok(output)) => (fitting(output, &limits), false),
                Over::Woken(Err(error)) => (fail(error), false),
                Over::TimedOut(error) => (fail(error), true),
            };
            (Settle { lease: lease.into(), verdict }, timed_out)
        };
        let (settles, timed_out) = ends.into_iter().map(end).unzip();
        Self { settles, timed_out, limits }
    }
}

/// Children may put out more together than a task may.
fn fitting(output: Value, limits: &Limits) -> Verdict {
    match check_payload(&output, limits) {
        Ok(()) => Verdict::Completed(output),
        Err(error) => {
            let error = format!("cannot store what it waited for: {error}");
            Verdict::Failed { error, retry: Retry::ByPolicy }
        }
    }
}

impl Command for EndWaits {
    type Answer = Vec<bool>;

    fn needs(&self) -> Needs {
        Needs::of_leases(self.settles.iter().map(|settle| &settle.lease))
    }

    fn more(&self, rows: &Rows) -> Needs {
        Fence::Wait.more(&self.settles, rows)
    }

    fn decide<'c>(
        &'c self,
        rows: &mut Rows,
        now: Timestamp,
    ) -> Result<(Vec<bool>, Writes<'c>), Refusal> {
        let mut batch = Batch::new(Fence::Wait, &self.settles, self.limits, rows, now);
        let mut ended = Vec::with_capacity(self.settles.len());
        for (item, timed_out) in self.timed_out.iter().enumerate() {
            let Some(TaskRef { step, index, .. }) = batch.held(item) else {
                ended.push(false);
                continue;
            };
            let entry = if *timed_out {
                Entry::StepWaitTimedOut { step, index }
            } else {
                Entry::StepWoken { step, index }
            };
            batch.end_wait(item, entry)?;
            ended.push(true);
        }
        Ok((ended, batch.writes))
    }
}

/// Gives a task the first of these payloads that fits what it waits for.
#[derive(Debug)]
pub struct Deliver<'a> {
    to: &'a TaskKey,
    wait: Option<&'a WaitRow>,
    settles: Vec<Settle>,
    limits: Limits,
    is_kept: bool,
}

/// What became of payloads for a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The task is completed with this one; those before it do not fit.
    Delivered(usize),
    /// None fits. Says where the first does not.
    Unfit(Option<Mismatch>),
    /// The task does not wait for them, and may do so later.
    NotYet,
    /// It never will.
    Over,
}

impl<'a> Deliver<'a> {
    /// To this task, which waits like this for what is delivered, if it does.
    pub fn new(
        to: &'a TaskKey,
        wait: Option<&'a WaitRow>,
        payloads: impl IntoIterator<Item = Value>,
        limits: Limits,
    ) -> Self {
        let attempt = wait.map_or(0, |wait| wait.attempt);
        let settle = |payload| Settle {
            lease: TaskLease { task: to.clone(), attempt }.into(),
            verdict: Verdict::Completed(payload),
        };
        let settles = payloads.into_iter().map(settle).collect();
        Self { to, wait, settles, limits, is_kept: false }
    }

    /// What was kept: whoever sent it is not there to be told that it does not fit, so the log says it.
    #[must_use]
    pub fn kept(self) -> Self {
        Self { is_kept: true, ..self }
    }

    /// Where a payload does not fit.
    fn unfit(&self, rows: &Rows, at: TaskRef, payload: &Value) -> Option<Mismatch> {
        let schema = self.wait.and_then(|wait| wait.schema.as_ref());
        let wide = || {
            let plan = &rows.runs.get(&at.run)?.version.plan;
            let error = elements(plan, at.step, payload, &self.limits).err()?;
            Some(Mismatch::of_all("what can be stored", error.to_string()))
        };
        schema.and_then(|schema| mismatch(schema, payload)).or_else(wide)
    }
}

impl Command for Deliver<'_> {
    type Answer = Delivery;

    fn needs(&self) -> Needs {
        Needs::of_tasks([self.to])
    }

    fn more(&self, rows: &Rows) -> Needs {
        Fence::Wait.more(self.settles.get(..1).unwrap_or_default(), rows)
    }

    fn decide<'c>(
        &'c self,
        rows: &mut Rows,
        now: Timestamp,
    ) -> Result<(Delivery, Writes<'c>), Refusal> {
        let none = Writes::default();
        let Some(at) = rows.find(self.to) else { return Ok((Delivery::Over, none)) };
        if !rows.may_wait(at) {
            return Ok((Delivery::Over, none));
        }
        let is_held = |attempt| rows.standing(at).is_some_and(|it| it.waits(attempt));
        if !self.wait.is_some_and(|wait| is_held(wait.attempt)) {
            return Ok((Delivery::NotYet, none));
        }
        let unfit = |settle: &Settle| match &settle.verdict {
            Verdict::Completed(payload) => self.unfit(rows, at, payload),
            _ => None,
        };
        let unfit: Vec<_> = self.settles.iter().map(unfit).collect();
        let mut batch = Batch::new(Fence::Wait, &self.settles, self.limits, rows, now);
        let Some(item) = unfit.iter().position(Option::is_none) else {
            let first = unfit.into_iter().next().flatten();
            if let Some(why) = first.as_ref().filter(|_| self.is_kept) {
                let (path, message) = (why.path.clone(), why.message());
                let (step, index) = (at.step, at.index);
                batch.log(at.run, Entry::StepSignalDropped { step, index, path, message });
            }
            return Ok((Delivery::Unfit(first), batch.writes));
        };
        batch.end_wait(item, Entry::StepSignalled { step: at.step, index: at.index })?;
        Ok((Delivery::Delivered(item), batch.writes))
    }
}
