//! Rows, as commands see them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde_json::Value;

use super::{Standing, TaskKey};
use crate::{
    Change, Output, Payload, RunId, RunState, RunStatus, StepStatus, TaskStatus, Timestamp, Turn,
    Version,
};

/// A task, by the number of its step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskRef {
    /// Its run.
    pub run: RunId,
    /// The number of its step.
    pub step: usize,
    /// Which element of a map it is for; 0 for a single step.
    pub index: u32,
}

/// A run with its steps, without payloads and tasks.
#[derive(Clone, Debug)]
pub struct RunRow {
    /// Its version of the flow.
    pub version: Arc<Version>,
    /// What it and its steps are. A completed step's output is [`Stored`](Output::Stored) until a command asks for it.
    pub state: RunState,
}

/// A task without payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskRow {
    /// What it is.
    pub status: TaskStatus,
    /// How often it was claimed.
    pub attempts: u32,
    /// How many of those do not count.
    pub refunded: u32,
    /// How often its worker was lost.
    pub losses: u32,
    /// When it may be claimed; nothing if it may not.
    pub ready_at: Option<Timestamp>,
    /// When its worker counts as lost, if it is later than that; nothing if no worker has it, or its step is over.
    pub lost_after: Option<Timestamp>,
}

impl TaskRow {
    /// Attempts that count towards the step's limit.
    pub fn counted(self) -> u32 {
        self.attempts.saturating_sub(self.refunded)
    }

    /// Waiting for a worker from this moment on.
    #[must_use]
    pub(crate) fn queued(self, ready_at: Timestamp) -> Self {
        let status = TaskStatus::Queued;
        Self { status, ready_at: Some(ready_at), lost_after: None, ..self }
    }

    /// Out of everybody's hands.
    #[must_use]
    pub(crate) fn ended(self, status: TaskStatus) -> Self {
        Self { status, ready_at: None, lost_after: None, ..self }
    }
}

/// What a store has loaded for a command.
#[derive(Debug, Default)]
pub struct Rows {
    /// Those of the runs asked for that exist. The order is that in which batches are settled.
    pub runs: BTreeMap<RunId, RunRow>,
    /// Those of the tasks asked for that exist.
    pub tasks: HashMap<TaskRef, TaskRow>,
    /// What the completed tasks of some maps put out, by run, step and index.
    pub map_outputs: HashMap<(RunId, usize), BTreeMap<u32, Value>>,
    /// How many bytes the outputs of some steps have, or of their tasks so far.
    pub weights: HashMap<(RunId, usize), usize>,
    /// Runs that are not on their own.
    pub ties: BTreeMap<RunId, Ties>,
}

/// What a run has to do with others. Nearly all have nothing, and then nobody looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ties {
    /// Tasks of it wait, or have waited.
    pub waits: bool,
    /// A task waits for its end, or has.
    pub awaited: bool,
}

impl Rows {
    /// The task of this key, if its run is loaded and has such a step.
    pub fn find(&self, key: &TaskKey) -> Option<TaskRef> {
        let step = self.runs.get(&key.run)?.version.plan.index(&key.step)?;
        Some(TaskRef { run: key.run, step, index: key.index })
    }

    /// Puts a payload where the transitions look for it.
    pub fn put(&mut self, run: RunId, payload: Payload, value: Value) {
        let Some(run) = self.runs.get_mut(&run) else { return };
        let value = Arc::new(value);
        match payload {
            Payload::RunInput => run.state.input = Some(value),
            Payload::StepOutput(step) => run.state.steps[step].output = Output::Loaded(value),
            // No transition looks at it.
            Payload::RunOutput => {}
        }
    }

    /// What decides about a task.
    pub(crate) fn standing(&self, at: TaskRef) -> Option<Standing> {
        let (state, task) = (&self.runs.get(&at.run)?.state, self.tasks.get(&at)?);
        Some(Standing {
            run: state.status,
            step: state.steps[at.step].status,
            task: task.status,
            attempts: task.attempts,
        })
    }

    /// Executes transitions of a run that is loaded.
    pub(crate) fn turn<T>(
        &mut self,
        run: RunId,
        act: impl FnOnce(&mut Turn<'_>) -> T,
    ) -> Option<(T, Change)> {
        let run = self.runs.get_mut(&run)?;
        let mut turn = Turn::new(&run.version.plan, &mut run.state);
        let result = act(&mut turn);
        let change = turn.end();
        Some((result, change))
    }

    /// Whether this task may wait, now or later.
    pub(crate) fn may_wait(&self, at: TaskRef) -> bool {
        let Some(run) = self.runs.get(&at.run) else { return false };
        let is_open = match (run.state.steps[at.step].status, self.tasks.get(&at)) {
            (StepStatus::Created, _) => true,
            (StepStatus::Started, Some(task)) => {
                !matches!(task.status, TaskStatus::Completed | TaskStatus::Failed)
            }
            _ => false,
        };
        run.state.status == RunStatus::Started && is_open
    }

    /// Whether tasks of this step may be worked on.
    pub(crate) fn is_live(&self, at: TaskRef) -> bool {
        self.runs.get(&at.run).is_some_and(|run| run.state.is_live(at.step))
    }
}

impl RunState {
    /// Whether tasks of this step may be worked on: the run goes on, and so does the step.
    pub fn is_live(&self, step: usize) -> bool {
        self.status == RunStatus::Started && self.steps[step].status == StepStatus::Started
    }
}
