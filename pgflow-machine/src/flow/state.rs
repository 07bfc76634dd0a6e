//! A run and its steps, as the transitions see them.

use std::sync::Arc;

use serde_json::Value;

use super::PlanStep;
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

/// What a completed step's output is put together from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gather {
    /// It has no tasks, and puts out an empty array.
    Nothing,
    /// What its only task put out.
    Task,
    /// An array of what its tasks put out, by index.
    Tasks,
}

impl Output {
    /// This value.
    pub(crate) fn loaded(value: Value) -> Self {
        Self::Loaded(Arc::new(value))
    }

    /// The value, if it is loaded.
    pub fn value(&self) -> Option<&Arc<Value>> {
        match self {
            Self::Loaded(value) => Some(value),
            Self::None | Self::Stored => None,
        }
    }
}

impl StepState {
    /// What its output is put together from, once it has completed.
    pub fn gathers(&self, planned: &PlanStep) -> Option<Gather> {
        match (self.status, self.initial_tasks, planned.is_map) {
            (StepStatus::Completed, Some(0), _) => Some(Gather::Nothing),
            (StepStatus::Completed, _, true) => Some(Gather::Tasks),
            (StepStatus::Completed, _, false) => Some(Gather::Task),
            _ => None,
        }
    }

    /// Whether it waits for nothing and has not started.
    pub(crate) fn is_ready(&self) -> bool {
        self.status == StepStatus::Created && self.remaining_deps == 0
    }

    /// Whether it can still be skipped.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.status, StepStatus::Created | StepStatus::Started)
    }
}
