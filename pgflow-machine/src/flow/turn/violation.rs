//! A step that did not output what the map after it needs.

use serde_json::Value;

use super::Turn;
use crate::{Entry, Limits, PayloadError, Plan, RunState, StepStatus, type_name};

/// A single step that feeds a map output something that is no array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Number of the step.
    pub step: usize,
    /// Number of the map; of the first, if there are several.
    pub map: usize,
    /// What it output, as `jsonb_typeof` says it.
    pub produced: &'static str,
}

impl Violation {
    /// Whether this output breaks the run. Like Postgres, it does not ask whether the attempt is the newest:
    /// a batch with such an output in it is completed task by task.
    pub fn of(plan: &Plan, run: &RunState, step: usize, output: &Value) -> Option<Self> {
        let planned = plan.step(step);
        if planned.is_map || run.steps[step].status != StepStatus::Started || output.is_array() {
            return None;
        }
        let waits = |map: &usize| plan.step(*map).is_map && run.steps[*map].initial_tasks.is_none();
        let map = planned.dependents.iter().copied().find(waits)?;
        Some(Self { step, map, produced: type_name(output) })
    }

    /// What the task says.
    pub fn task_error(&self) -> String {
        format!("[TYPE_VIOLATION] Produced {} instead of array", self.produced)
    }

    /// What the step says.
    pub fn step_error(&self, plan: &Plan) -> String {
        format!(
            "[TYPE_VIOLATION] Map step {} expects array input but dependency {} produced {}",
            plan.step(self.map).slug,
            plan.step(self.step).slug,
            self.produced
        )
    }
}

/// How many elements a completed step gives to the map after it; an error if there are too many.
pub fn elements(
    plan: &Plan,
    step: usize,
    output: &Value,
    limits: &Limits,
) -> Result<Option<u32>, PayloadError> {
    let planned = plan.step(step);
    let array = output.as_array().filter(|_| planned.feeds_map && !planned.is_map);
    array.map(|array| limits.check_fanout(array.len())).transpose()
}

impl Turn<'_> {
    /// Fails the run because of such an output. The task is `failed`, keeps the output, and has
    /// [`task_error`](Violation::task_error); that is the caller's to write.
    ///
    /// Unlike with other failures the run's event comes first and has no message: clients rely on it.
    pub fn violate(&mut self, violation: &Violation) {
        if !self.is_live(violation.step) {
            return;
        }
        let error = violation.step_error(self.plan);
        self.set_failed(violation.step, &error);
        self.log(Entry::RunFailed { error: None });
        self.log(Entry::StepFailed { step: violation.step, error });
    }
}
