//! What all commands about jobs are made of: jobs arrive, are let go, and end.

use std::collections::{BTreeSet, VecDeque};

use serde_json::{Value, json};

use super::{
    ArchiveWrite, ArchivedJob, Asked, Dependency, JobId, JobOutcome, JobRow, JobRows, JobState,
    JobToken, JobWrites, Seq, TraceEntry, TraceKind,
};
use crate::{Refusal, Timestamp};

/// Changes to rows that are loaded, and what is to be written of them.
#[derive(Debug)]
pub(super) struct Transition<'r, 'c> {
    pub(super) rows: &'r mut JobRows,
    pub(super) now: Timestamp,
    pub(super) writes: JobWrites<'c>,
    /// Who does it.
    pub(super) by: Option<String>,
    /// What has ended, and whether its waiters have not been told: with the word for how, unless it ended well.
    pub(super) over: VecDeque<(Dependency, Option<&'static str>)>,
    /// Keys in whose lines something changed.
    pub(super) disturbed: BTreeSet<String>,
}

/// How a job ends.
#[derive(Debug)]
pub(super) struct End<'c> {
    pub(super) outcome: JobOutcome,
    pub(super) output: Option<&'c Value>,
    pub(super) detail: Option<Value>,
}

impl From<JobOutcome> for End<'_> {
    fn from(outcome: JobOutcome) -> Self {
        Self { outcome, output: None, detail: None }
    }
}

impl<'r, 'c> Transition<'r, 'c> {
    pub(super) fn new(rows: &'r mut JobRows, now: Timestamp, by: Option<&str>) -> Self {
        Self {
            rows,
            now,
            writes: JobWrites::default(),
            by: by.map(str::to_owned),
            over: VecDeque::new(),
            disturbed: BTreeSet::new(),
        }
    }

    /// Tells waiters, puts lines in order, and says what is to be written.
    pub(super) fn done(mut self) -> Result<JobWrites<'c>, Refusal> {
        self.pass_on()?;
        self.line_up()?;
        let JobWrites { edges, over, freed, .. } = &mut self.writes;
        edges.retain(|edge| !over.contains(&edge.wait.on) && !freed.contains(&edge.waiter));
        Ok(self.writes)
    }

    /// A row that is about to change. What is not loaded is not there.
    pub(super) fn change(&mut self, id: &JobId) -> Option<&mut JobRow> {
        let row = self.rows.jobs.get_mut(id)?;
        let is_there = matches!(row.seq, Seq::Given(_)) && !self.writes.restored.contains(id);
        if is_there {
            self.writes.updated.insert(id.clone());
        }
        Some(row)
    }

    /// A job with nothing in its way any more, as far as it is concerned: it waits, sleeps, or gets in line. Unless it
    /// has lost too many workers in a row: the threshold may have been lowered while somebody had it.
    pub(super) fn arrive(&mut self, id: &JobId) {
        let now = self.now;
        let threshold = self.rows.jobs.get(id).map(|row| self.rows.threshold_of(row));
        let (Some(threshold), Some(row)) = (threshold, self.change(id)) else { return };
        let is_awake = row.state == JobState::Sleeping;
        row.state = if row.waits > 0 {
            JobState::Waiting
        } else if row.streak > threshold {
            JobState::Concern
        } else if row.is_expired(now) {
            JobState::Expired
        } else if row.wake_at.is_some_and(|wake_at| wake_at > now) {
            JobState::Sleeping
        } else if row.key.is_some() {
            // The line decides.
            JobState::Parked
        } else {
            JobState::Ready
        };
        if row.state == JobState::Ready && !is_awake {
            row.is_back(now);
        }
        let (key, is_concern) = (row.key.clone(), row.state == JobState::Concern);
        self.disturbed.extend(key);
        if is_concern {
            self.trace(id, TraceKind::Concern, None);
        }
    }

    /// Takes the lease away, and the key with it.
    pub(super) fn let_go(&mut self, id: &JobId) -> Option<JobToken> {
        let row = self.change(id)?;
        let (lease, key) = (row.lease.take()?, row.key.clone());
        self.writes.leases.insert(id.clone());
        if let Some(key) = key {
            self.set_key(key, None);
        }
        Some(lease.token)
    }

    /// Ends a job: whoever waits for it is told in the end.
    pub(super) fn end(&mut self, id: &JobId, end: impl Into<End<'c>>) {
        let End { outcome, output, detail } = end.into();
        let token = self.let_go(id);
        let Some(mut row) = self.rows.jobs.remove(id) else { return };
        if row.waits > 0 {
            self.writes.freed.insert(id.clone());
            self.rows.waits.remove(id);
        }
        if let Some(token) = &token {
            row.settled = Some(token.clone());
        }
        self.disturbed.extend(row.key.clone());
        self.trace_with(id, ended(outcome), token, detail);
        // Its row goes to the archive as it is now.
        self.writes.updated.remove(id);
        self.writes.archived.push(ArchiveWrite { id: id.clone(), outcome, output });
        let word = (outcome != JobOutcome::Done).then(|| outcome.word());
        self.over.push_back((Dependency::Job(id.clone()), word));
        self.rows.archived.insert(id.clone(), ArchivedJob { row, outcome });
    }

    /// Ends a job whose cancellation was asked for while somebody had it.
    pub(super) fn end_cancelled(&mut self, id: &JobId) {
        let asked = self.rows.jobs.get(id).and_then(|row| row.cancel.clone());
        let told =
            |asked: Asked| json!({ "by": asked.by, "reason": told(asked.reason.as_deref()) });
        let detail = asked.map(told);
        self.end(id, End { outcome: JobOutcome::Cancelled, output: None, detail });
    }

    pub(super) fn trace(&mut self, job: &JobId, kind: TraceKind, token: Option<JobToken>) {
        self.trace_with(job, kind, token, None);
    }

    pub(super) fn trace_with(
        &mut self,
        job: &JobId,
        kind: TraceKind,
        token: Option<JobToken>,
        detail: Option<Value>,
    ) {
        if self.rows.settings.trace {
            let by = self.by.clone();
            self.writes.trace.push(TraceEntry { job: job.clone(), kind, by, token, detail });
        }
    }
}

/// As much of a reason as a trace keeps; the job has all of it.
pub(super) fn told(reason: Option<&str>) -> Option<String> {
    const LONGEST: usize = 1000;
    reason.map(|reason| reason.chars().take(LONGEST).collect())
}

fn ended(outcome: JobOutcome) -> TraceKind {
    match outcome {
        JobOutcome::Done => TraceKind::Finished,
        JobOutcome::Failed => TraceKind::Failed,
        JobOutcome::Cancelled => TraceKind::Cancelled,
        JobOutcome::Expired => TraceKind::Expired,
        JobOutcome::Crashed => TraceKind::Crashed,
    }
}
