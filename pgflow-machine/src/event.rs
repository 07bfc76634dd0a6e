//! What a run's log says.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::wait::WaitKind;
use crate::{SkipReason, Timestamp};

/// What the payloads of a page of events have together, unless it is one event: bytes of JSON.
pub const EVENT_BYTES: usize = 4 << 20;

/// An entry of a run's log. `seq` counts from 1 without gaps.
///
/// ```
/// use pgflow_machine::{Event, Happened, Timestamp};
///
/// let event = Event { seq: 1, at: Timestamp::default(), what: Happened::RunRetried };
/// assert_eq!(event.what.to_string(), "run:retried");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Its number within the run.
    pub seq: u64,
    /// When it was recorded.
    pub at: Timestamp,
    /// What it says.
    #[serde(flatten)]
    pub what: Happened,
}

/// What happened in a run.
///
/// ```
/// use pgflow_machine::Happened;
///
/// let event = Happened::StepStarted { step: "fetch".into(), tasks: 1 };
/// assert_eq!(event.step(), Some("fetch"));
/// assert_eq!(event.to_string(), "step:started fetch");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event")]
#[non_exhaustive]
pub enum Happened {
    /// The run began.
    #[serde(rename = "run:started")]
    RunStarted {
        /// What it was given.
        input: Value,
    },
    /// All steps ended.
    #[serde(rename = "run:completed")]
    RunCompleted {
        /// The outputs of its last steps by slug; null if all of those were skipped.
        output: Value,
    },
    /// A step failed for good.
    #[serde(rename = "run:failed")]
    RunFailed {
        /// Why; nothing when a step did not output what the map after it needs: see that step.
        error: Option<String>,
    },
    /// It was cancelled.
    #[serde(rename = "run:cancelled")]
    RunCancelled {
        /// Why.
        reason: Option<String>,
    },
    /// It had failed, and was retried.
    #[serde(rename = "run:retried")]
    RunRetried,
    /// A step's tasks are there.
    #[serde(rename = "step:started")]
    StepStarted {
        /// Its slug.
        step: String,
        /// How many tasks.
        tasks: u32,
    },
    /// All tasks of a step are completed.
    #[serde(rename = "step:completed")]
    StepCompleted {
        /// Its slug.
        step: String,
        /// What it output.
        output: Value,
    },
    /// A step failed for good.
    #[serde(rename = "step:failed")]
    StepFailed {
        /// Its slug.
        step: String,
        /// Why.
        error: String,
    },
    /// The run goes on without a step.
    #[serde(rename = "step:skipped")]
    StepSkipped {
        /// Its slug.
        step: String,
        /// Why.
        reason: SkipReason,
        /// What its last attempt failed with.
        error: Option<String>,
    },
    /// An attempt of a task ended by waiting.
    #[serde(rename = "step:waiting")]
    StepWaiting {
        /// Its slug.
        step: String,
        /// Which task.
        index: u32,
        /// What kind of thing it waits for. A token is a secret and not said.
        on: WaitKind,
        /// Until when at most; for a sleep, when it ends.
        until: Option<Timestamp>,
    },
    /// A task got the signal that it waited for.
    #[serde(rename = "step:signalled")]
    StepSignalled {
        /// Its slug.
        step: String,
        /// Which task.
        index: u32,
    },
    /// What was kept for a task before it waited is not what it waits for, and was dropped.
    #[serde(rename = "step:signal_dropped")]
    StepSignalDropped {
        /// Its slug.
        step: String,
        /// Which task.
        index: u32,
        /// Where in the payload, like `/lines/3/price`; empty if it is all of it.
        path: String,
        /// What is wrong there.
        message: String,
    },
    /// A sleep is over, or the children that a task waited for.
    #[serde(rename = "step:woken")]
    StepWoken {
        /// Its slug.
        step: String,
        /// Which task.
        index: u32,
    },
    /// A task waited too long.
    #[serde(rename = "step:wait_timed_out")]
    StepWaitTimedOut {
        /// Its slug.
        step: String,
        /// Which task.
        index: u32,
    },
}

impl Happened {
    /// Its kind, as databases spell it.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::RunStarted { .. } => "run:started",
            Self::RunCompleted { .. } => "run:completed",
            Self::RunFailed { .. } => "run:failed",
            Self::RunCancelled { .. } => "run:cancelled",
            Self::RunRetried => "run:retried",
            Self::StepStarted { .. } => "step:started",
            Self::StepCompleted { .. } => "step:completed",
            Self::StepFailed { .. } => "step:failed",
            Self::StepSkipped { .. } => "step:skipped",
            Self::StepWaiting { .. } => "step:waiting",
            Self::StepSignalled { .. } => "step:signalled",
            Self::StepSignalDropped { .. } => "step:signal_dropped",
            Self::StepWoken { .. } => "step:woken",
            Self::StepWaitTimedOut { .. } => "step:wait_timed_out",
        }
    }

    /// The step it is about.
    pub fn step(&self) -> Option<&str> {
        match self {
            Self::StepStarted { step, .. }
            | Self::StepCompleted { step, .. }
            | Self::StepFailed { step, .. }
            | Self::StepSkipped { step, .. }
            | Self::StepWaiting { step, .. }
            | Self::StepSignalled { step, .. }
            | Self::StepSignalDropped { step, .. }
            | Self::StepWoken { step, .. }
            | Self::StepWaitTimedOut { step, .. } => Some(step),
            _ => None,
        }
    }

    /// Why it happened, where somebody or something gave a reason.
    ///
    /// ```
    /// use pgflow_machine::Happened;
    ///
    /// let failed = Happened::StepFailed { step: "fetch".into(), error: "no answer".into() };
    /// assert_eq!(failed.why().as_deref(), Some("no answer"));
    /// assert_eq!(Happened::RunRetried.why(), None);
    /// ```
    pub fn why(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::RunFailed { error: why } | Self::RunCancelled { reason: why } => {
                why.as_deref().map(Cow::Borrowed)
            }
            Self::StepFailed { error, .. } => Some(Cow::Borrowed(error)),
            Self::StepSkipped { reason, error: Some(error), .. } => {
                Some(Cow::Owned(format!("{reason}: {error}")))
            }
            Self::StepSkipped { reason, error: None, .. } => Some(Cow::Owned(reason.to_string())),
            Self::StepSignalDropped { path, message, .. } if path.is_empty() => {
                Some(Cow::Borrowed(message))
            }
            Self::StepSignalDropped { path, message, .. } => {
                Some(Cow::Owned(format!("{path}: {message}")))
            }
            _ => None,
        }
    }

    /// Whether it ends the run.
    pub const fn ends_the_run(&self) -> bool {
        matches!(
            self,
            Self::RunCompleted { .. } | Self::RunFailed { .. } | Self::RunCancelled { .. }
        )
    }
}

impl std::fmt::Display for Happened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())?;
        self.step().map_or(Ok(()), |step| write!(f, " {step}"))
    }
}
