//! Rows in every combination of statuses.

use std::sync::Arc;

use pgflow_machine::{
    FlowVersion, Output, Rows, RunId, RunRow, RunState, RunStatus, SkipReason, StepState,
    StepStatus, TaskKey, TaskLease, TaskRef, TaskRow, TaskStatus, Timestamp, Version,
};
use pgflow_model::{FlowShape, StepShape};

pub(crate) const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

/// How often the task was claimed; its step allows one more.
const ATTEMPTS: u32 = 2;

const SAID: [(&str, u32); 3] = [("older", 1), ("current", ATTEMPTS), ("newer", 3)];

/// A run of one step with one task, and the attempt that is spoken of.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    run: RunStatus,
    step: StepStatus,
    /// Nothing if there is no such task.
    task: Option<TaskStatus>,
    attempt: (&'static str, u32),
}

impl Case {
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let tasks = || TaskStatus::ALL.iter().copied().map(Some).chain([None]);
        let of_step = move |run, step| {
            tasks().flat_map(move |task| SAID.map(|attempt| Self { run, step, task, attempt }))
        };
        let of_run = move |run: &RunStatus| {
            let run = *run;
            StepStatus::ALL.iter().flat_map(move |step| of_step(run, *step))
        };
        RunStatus::ALL.iter().flat_map(of_run)
    }

    pub(crate) fn words(&self) -> [&'static str; 4] {
        let task = self.task.map_or("none", TaskStatus::word);
        [self.run.word(), self.step.word(), task, self.attempt.0]
    }

    pub(crate) fn lease(&self) -> TaskLease {
        let task = TaskKey { run: run_id(), step: "a".into(), index: 0 };
        TaskLease { task, attempt: self.attempt.1 }
    }

    pub(crate) fn rows(&self) -> Rows {
        let mut rows = Rows::default();
        let state = RunState {
            status: self.run,
            remaining_steps: u32::from(self.run != RunStatus::Completed),
            steps: vec![self.step_state()],
            input: None,
        };
        rows.runs.insert(run_id(), RunRow { version: version(), state });
        rows.tasks.extend(self.task.map(|status| (task_ref(), task_row(status))));
        rows
    }

    fn step_state(&self) -> StepState {
        let remaining_tasks = match self.step {
            StepStatus::Created | StepStatus::Skipped => None,
            StepStatus::Started | StepStatus::Failed => Some(1),
            StepStatus::Completed => Some(0),
        };
        let is_skipped = self.step == StepStatus::Skipped;
        let is_completed = self.step == StepStatus::Completed;
        StepState {
            status: self.step,
            remaining_deps: 0,
            initial_tasks: Some(1),
            remaining_tasks,
            error: None,
            skip_reason: is_skipped.then_some(SkipReason::ConditionUnmet),
            output: if is_completed { Output::Stored } else { Output::None },
        }
    }
}

fn run_id() -> RunId {
    RunId::from_key("flow", "outcomes")
}

pub(crate) fn task_ref() -> TaskRef {
    TaskRef { run: run_id(), step: 0, index: 0 }
}

fn task_row(status: TaskStatus) -> TaskRow {
    TaskRow {
        status,
        attempts: ATTEMPTS,
        refunded: 0,
        losses: 0,
        ready_at: (status == TaskStatus::Queued).then_some(NOW),
        lost_after: (status == TaskStatus::Started).then_some(NOW),
    }
}

fn version() -> Arc<Version> {
    let shape = FlowShape { steps: vec![StepShape::new("a")], ..FlowShape::new("flow") };
    let version = FlowVersion { flow: "flow".into(), version: 1, slug: "flow".into(), shape };
    Arc::new(Version::new(1, version, None).expect("a flow"))
}
