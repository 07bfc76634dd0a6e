//! Answers without what may differ between backends: ids, times and the order of claims.

use pgflow_machine::{Beat, RunStatus, Settled, Timestamp};
use pgflow_runtime::backend::{Cancelled, Retried, RunRecord, Started, StepRecord, StepWork};
use serde_json::Value;

use super::command::Attempt;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reply {
    Started(Started),
    Claimed(Vec<Task>),
    Settled(Vec<Settled>, Vec<Task>),
    /// Of a step with a transaction; nothing if its lease does not hold.
    Committed(Option<Settled>),
    Beats(Vec<Beat>),
    Advanced,
    Dropped,
    Swept(u64),
    SweptAndClaimed(u64, Vec<Task>),
    Released(u64),
    /// Without the names of runs.
    Signalled(String),
    /// Which children, which attempts of theirs, and what came of it.
    Children(Vec<(u64, u32, Settled)>),
    Cancelled(Cancelled),
    Retried(Retried),
    /// Runs, and children by their numbers.
    Seen(Vec<Option<Seen>>, Vec<(u64, Seen)>),
    /// What the error says.
    Refused(String),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Task {
    pub(super) attempt: Attempt,
    pub(super) input: Value,
    pub(super) seconds: u64,
}

/// A run and its log.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seen {
    status: RunStatus,
    input: Option<Value>,
    output: Option<Value>,
    remaining_steps: u32,
    has_ended: bool,
    cancel_reason: Option<String>,
    steps: Vec<StepRecord>,
    log: Vec<String>,
}

impl Seen {
    pub(super) fn new(run: RunRecord, log: Vec<String>) -> Self {
        Self {
            status: run.status,
            input: run.input,
            output: run.output,
            remaining_steps: run.remaining_steps,
            has_ended: run.ended_at.is_some(),
            cancel_reason: run.cancel_reason,
            steps: run.steps.into_iter().map(without_time).collect(),
            log,
        }
    }

    pub(super) fn without_input(self) -> Self {
        Self { input: None, ..self }
    }

    pub(super) fn status(&self) -> RunStatus {
        self.status
    }
}

/// Without what differs between databases: who works on a step, and when it goes on.
fn without_time(step: StepRecord) -> StepRecord {
    let work = step.work.map(|work| StepWork {
        worker: None,
        next_at: work.next_at.map(|_| Timestamp::default()),
        ..work
    });
    StepRecord { work, ..step }
}
