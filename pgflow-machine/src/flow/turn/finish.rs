//! Completed tasks, and what follows from a completed step.

use super::{NotLoaded, Turn};
use crate::{Output, StepStatus};

/// A step whose tasks are all completed.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// Number of the step.
    pub step: usize,
    /// What it output; loaded only if [`Turn::wanted`] names the step.
    pub output: Output,
    /// How many elements its output has. Needed for a single step that feeds a map; the others' is known.
    pub elements: Option<u32>,
}

impl Turn<'_> {
    /// Takes completed tasks off their step. Returns whether those were the last: then
    /// [`finish`](Self::finish) it in the same transaction.
    ///
    /// When several tasks of a run complete in one batch, all are counted before any step is finished.
    pub fn count_down(&mut self, step: usize, tasks: u32) -> bool {
        debug_assert!(self.is_live(step), "tasks of a step that is over do not complete");
        let state = self.step_mut(step);
        let left = state.remaining_tasks.unwrap_or(0).saturating_sub(tasks);
        state.remaining_tasks = Some(left);
        left == 0
    }

    /// Completes these steps, and moves the run on as far as it goes without a worker.
    pub fn finish(&mut self, finished: &[Finished]) -> Result<(), NotLoaded> {
        let mut finished: Vec<_> = finished.iter().collect();
        finished.sort_by_key(|done| done.step);
        for done in &finished {
            self.set_completed(done.step, done.output.clone());
        }
        for done in &finished {
            let is_map = self.plan.step(done.step).is_map;
            let own_tasks = self.run.steps[done.step].initial_tasks;
            self.release_dependents(done.step, if is_map { own_tasks } else { done.elements });
        }
        self.advance()
    }

    /// Tells dependents that they need not wait for a step any more; those that are maps get a task per
    /// element.
    pub(super) fn release_dependents(&mut self, step: usize, elements: Option<u32>) {
        for &dependent in &self.plan.step(step).dependents {
            if self.run.steps[dependent].status != StepStatus::Created {
                continue;
            }
            let is_map = self.plan.step(dependent).is_map;
            let state = self.step_mut(dependent);
            state.remaining_deps -= 1;
            if is_map {
                state.initial_tasks = elements;
            }
        }
    }
}
