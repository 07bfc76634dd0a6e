//! What a transition leaves to be written.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Plan;
use crate::wait::WaitKind;
use crate::{Happened, RunStatus, SkipReason, Timestamp};

/// What follows from a transition, besides the new [`RunState`](crate::RunState).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// Whether the run's own row changed.
    pub run: bool,
    /// Steps whose rows changed.
    pub steps: BTreeSet<usize>,
    /// What to do with tasks, and the run's output, in this order.
    pub effects: Vec<Effect>,
    /// What to append to the run's log, in this order.
    pub log: Vec<Entry>,
}

/// Something to do besides writing the rows of run and steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Queue the tasks of a step that has just started, `0..tasks`.
    Spawn {
        /// Which step.
        step: usize,
        /// How many.
        tasks: u32,
        /// What they work on.
        from: InputSource,
        /// In how long they may be claimed.
        delay: Duration,
    },
    /// A step ended while tasks of it may be queued or held: none may be claimed any more. Their rows stay as
    /// they are.
    DropStep {
        /// Which step.
        step: usize,
    },
    /// The run ended while tasks of it may be queued or held: none may be claimed any more. Their rows stay as
    /// they are.
    DropRun,
    /// The run goes on after it had failed: tasks of these steps that are queued may be claimed again, at once, in
    /// this order of steps and by index.
    Requeue {
        /// Which steps.
        steps: Vec<usize>,
    },
    /// The run completed. Its output is an object of the outputs of these steps by slug, or null if there are
    /// none.
    Output {
        /// Its completed leaves, in order.
        leaves: Vec<usize>,
    },
}

/// What the tasks of a step work on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputSource {
    /// A single step's task: what it works on is put together when it is claimed.
    Run,
    /// Task *n* works on element *n* of the run's input.
    InputElements,
    /// Task *n* works on element *n* of what this step output.
    OutputElements(usize),
}

/// An entry of a run's log without inputs and outputs: those are in the rows of the run and its steps, and
/// never change once they are there, so that the log needs no copy.
///
/// Variants and fields are those of [`Happened`], with steps by number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event")]
#[expect(missing_docs, reason = "`Happened` documents them")]
pub enum Entry {
    #[serde(rename = "run:started")]
    RunStarted,
    #[serde(rename = "run:completed")]
    RunCompleted,
    #[serde(rename = "run:failed")]
    RunFailed { error: Option<String> },
    #[serde(rename = "run:cancelled")]
    RunCancelled { reason: Option<String> },
    #[serde(rename = "run:retried")]
    RunRetried,
    #[serde(rename = "step:started")]
    StepStarted { step: usize, tasks: u32 },
    #[serde(rename = "step:completed")]
    StepCompleted { step: usize },
    #[serde(rename = "step:failed")]
    StepFailed { step: usize, error: String },
    #[serde(rename = "step:skipped")]
    StepSkipped { step: usize, reason: SkipReason, error: Option<String> },
    #[serde(rename = "step:waiting")]
    StepWaiting { step: usize, index: u32, on: WaitKind, until: Option<Timestamp> },
    #[serde(rename = "step:signalled")]
    StepSignalled { step: usize, index: u32 },
    #[serde(rename = "step:signal_dropped")]
    StepSignalDropped { step: usize, index: u32, path: String, message: String },
    #[serde(rename = "step:woken")]
    StepWoken { step: usize, index: u32 },
    #[serde(rename = "step:wait_timed_out")]
    StepWaitTimedOut { step: usize, index: u32 },
}

/// A payload of a run, as an [`Entry`] leaves it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Payload {
    /// What the run was given.
    RunInput,
    /// What the run output; null if nothing.
    RunOutput,
    /// What a step output.
    StepOutput(usize),
}

impl Change {
    /// Adds a later change of the same run.
    pub fn merge(&mut self, later: Self) {
        self.run |= later.run;
        self.steps.extend(later.steps);
        self.effects.extend(later.effects);
        self.log.extend(later.log);
    }

    /// Lets the tasks that it queues wait for so much longer.
    pub(crate) fn delay(&mut self, by: Duration) {
        for effect in &mut self.effects {
            if let Effect::Spawn { delay, .. } = effect {
                *delay = delay.saturating_add(by);
            }
        }
    }
}

impl Entry {
    /// How the run ended, and with what error, if this is its end.
    pub fn end(&self) -> Option<(RunStatus, Option<&str>)> {
        match self {
            Self::RunCompleted => Some((RunStatus::Completed, None)),
            Self::RunFailed { error } => Some((RunStatus::Failed, error.as_deref())),
            Self::RunCancelled { .. } => Some((RunStatus::Cancelled, None)),
            _ => None,
        }
    }

    /// The payload that it leaves out.
    pub fn payload(&self) -> Option<Payload> {
        match self {
            Self::RunStarted => Some(Payload::RunInput),
            Self::RunCompleted => Some(Payload::RunOutput),
            Self::StepCompleted { step } => Some(Payload::StepOutput(*step)),
            _ => None,
        }
    }

    /// The whole event; `payload` looks up what the entry leaves out.
    pub fn happened(&self, plan: &Plan, payload: impl FnOnce(Payload) -> Value) -> Happened {
        let slug = |step: usize| plan.step(step).slug.to_string();
        match self.clone() {
            Self::RunStarted => Happened::RunStarted { input: payload(Payload::RunInput) },
            Self::RunCompleted => Happened::RunCompleted { output: payload(Payload::RunOutput) },
            Self::RunFailed { error } => Happened::RunFailed { error },
            Self::RunCancelled { reason } => Happened::RunCancelled { reason },
            Self::RunRetried => Happened::RunRetried,
            Self::StepStarted { step, tasks } => Happened::StepStarted { step: slug(step), tasks },
            Self::StepCompleted { step } => Happened::StepCompleted {
                step: slug(step),
                output: payload(Payload::StepOutput(step)),
            },
            Self::StepFailed { step, error } => Happened::StepFailed { step: slug(step), error },
            Self::StepSkipped { step, reason, error } => {
                Happened::StepSkipped { step: slug(step), reason, error }
            }
            Self::StepWaiting { step, index, on, until } => {
                Happened::StepWaiting { step: slug(step), index, on, until }
            }
            Self::StepSignalled { step, index } => {
                Happened::StepSignalled { step: slug(step), index }
            }
            Self::StepSignalDropped { step, index, path, message } => {
                Happened::StepSignalDropped { step: slug(step), index, path, message }
            }
            Self::StepWoken { step, index } => Happened::StepWoken { step: slug(step), index },
            Self::StepWaitTimedOut { step, index } => {
                Happened::StepWaitTimedOut { step: slug(step), index }
            }
        }
    }
}
