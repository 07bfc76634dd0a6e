//! A failed run that goes on.

use super::{NotLoaded, Turn};
use crate::{Effect, Entry, RunStatus, StepStatus};

impl Turn<'_> {
    /// Lets a failed run go on from what failed. Returns whether it had failed.
    ///
    /// A step that failed with its tasks is open again, and [`Effect::Requeue`] says what becomes of those. One
    /// that failed for its condition is looked at once more.
    pub fn retry(&mut self) -> Result<bool, NotLoaded> {
        if self.run.status != RunStatus::Failed {
            return Ok(false);
        }
        self.set_run(RunStatus::Started);
        self.log(Entry::RunRetried);
        for step in 0..self.run.steps.len() {
            if self.run.steps[step].status == StepStatus::Failed {
                self.reopen(step);
            }
        }
        self.change.effects.push(Effect::Requeue);
        self.advance()?;
        Ok(true)
    }

    /// Puts a failed step back to where it was.
    fn reopen(&mut self, step: usize) {
        let state = self.step_mut(step);
        state.error = None;
        state.status = StepStatus::Created;
        if let Some(tasks) = state.remaining_tasks {
            state.status = StepStatus::Started;
            self.log(Entry::StepStarted { step, tasks });
        }
    }
}
