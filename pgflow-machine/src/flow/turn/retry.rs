//! A failed run that goes on.

use super::{NotLoaded, Turn};
use crate::flow::excess::{OUTPUT_BYTES, too_large};
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
        let errors: Vec<_> = self.run.steps.iter().map(|step| step.error.clone()).collect();
        self.set_run(RunStatus::Started);
        self.log(Entry::RunRetried);
        for step in 0..self.run.steps.len() {
            if self.run.steps[step].status == StepStatus::Failed {
                self.reopen(step);
            }
        }
        let is_started = |step: &usize| self.run.steps[*step].status == StepStatus::Started;
        let mut steps: Vec<_> = (0..self.run.steps.len()).filter(is_started).collect();
        steps.sort_by_key(|step| &self.plan.step(*step).slug);
        self.change.effects.push(Effect::Requeue { steps });
        self.exceed_again(errors)?;
        self.advance()?;
        Ok(true)
    }

    /// Ends steps that have nothing left to do and put out too much: they still do.
    fn exceed_again(&mut self, errors: Vec<Option<String>>) -> Result<(), NotLoaded> {
        for (step, error) in errors.into_iter().enumerate() {
            if self.run.steps[step].remaining_tasks == Some(0) {
                let error = error.unwrap_or_else(|| too_large(self.plan, step, OUTPUT_BYTES));
                self.exhaust(step, &error)?;
            }
        }
        Ok(())
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
