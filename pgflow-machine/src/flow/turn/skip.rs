//! Steps that the run goes on without.

use pgflow_model::OnSkip;

use super::{NotLoaded, Turn};
use crate::{Effect, Entry, SkipReason, StepStatus};

impl Turn<'_> {
    pub(super) fn end_exhausted(&mut self, step: usize, error: &str) -> Result<(), NotLoaded> {
        let mode = self.plan.step(step).when_exhausted;
        if mode == OnSkip::Fail {
            self.fail(step, error);
            return Ok(());
        }
        self.change.effects.push(Effect::DropStep { step });
        self.skip_all(&[step], SkipReason::HandlerFailed, Some(error));
        if mode == OnSkip::Skip {
            self.release_dependents(step, Some(0));
        } else {
            self.skip_with_dependents(step, SkipReason::HandlerFailed);
        }
        self.advance()
    }

    /// Skips a step, unless it is already, and all that depends on it, near or far.
    pub(super) fn skip_with_dependents(&mut self, step: usize, reason: SkipReason) {
        self.skip_all(&[step], reason, None);
        let mut below = vec![false; self.run.steps.len()];
        for at in step + 1..below.len() {
            // Steps come after what they depend on, so that one pass sees all.
            below[at] = self.plan.step(at).deps.iter().any(|dep| *dep == step || below[*dep]);
        }
        let below: Vec<_> = (0..below.len()).filter(|at| below[*at]).collect();
        self.skip_all(&below, SkipReason::DependencySkipped, None);
    }

    /// Skips those of these steps that have not ended, in their order.
    pub(super) fn skip_all(&mut self, steps: &[usize], reason: SkipReason, error: Option<&str>) {
        for &step in steps {
            if !self.run.steps[step].is_open() {
                continue;
            }
            let state = self.step_mut(step);
            state.status = StepStatus::Skipped;
            state.remaining_tasks = None;
            state.skip_reason = Some(reason);
            state.error = error.map(str::to_owned);
            self.log(Entry::StepSkipped { step, reason, error: error.map(str::to_owned) });
            self.take_off_run(1);
        }
    }
}
