//! A run and its steps, as the transitions see them.

use std::sync::Arc;

use serde_json::Value;

use crate::{RunStatus, SkipReason, StepStatus};

/// A run, without its tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct RunState {
    /// What it is.
    pub status: RunStatus,
    /// Steps that have not ended.
    pub remaining_steps: u32,
    /// Its steps, by their numbers in the [`Plan`](crate::Plan).
    pub steps: Vec<StepState>,
    /// What it was given. Only a start, and a retry that [`wants_input`](Self::wants_input), look at it.
    pub input: Option<Arc<Value>>,
}

/// A step of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct StepState {
    /// What it is.
    pub status: StepStatus,
    /// Dependencies it waits for.
    pub remaining_deps: u32,
    /// How many tasks it has, once that is known.
    pub initial_tasks: Option<u32>,
    /// How many of them are not completed; nothing before it starts and after it was skipped.
    pub remaining_tasks: Option<u32>,
    /// Why it failed or was skipped.
    pub error: Option<String>,
    /// Why it was skipped.
    pub skip_reason: Option<SkipReason>,
    /// What it output.
    pub output: Output,
}

/// What a step output, as far as a transition needs to know.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Output {
    /// Nothing yet.
    #[default]
    None,
    /// Something, which stays in the database: see [`Turn::wanted`](crate::Turn::wanted).
    Stored,
    /// This.
    Loaded(Arc<Value>),
}

impl Output {
    /// The value, if it is loaded.
    pub fn value(&self) -> Option<&Arc<Value>> {
        match self {
            Self::Loaded(value) => Some(value),
            Self::None | Self::Stored => None,
        }
    }
}

impl StepState {
    /// Whether it waits for nothing and has not started.
    pub(crate) fn is_ready(&self) -> bool {
        self.status == StepStatus::Created && self.remaining_deps == 0
    }

    /// Whether it can still be skipped.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.status, StepStatus::Created | StepStatus::Started)
    }
}
