//! Which outputs a transition may look at.

use pgflow_model::OnSkip;

use super::Turn;
use crate::{Output, Plan, PlanStep, RunState, StepState, StepStatus};

impl Turn<'_> {
    /// Steps whose outputs the conditions of other steps may be held against when these steps end now: load
    /// them into [`RunState::steps`] first (or give them in [`Finished`](super::Finished)). Nothing for flows without conditions.
    pub fn wanted(plan: &Plan, run: &RunState, ending: &[usize]) -> Vec<usize> {
        let mut wanted = vec![false; run.steps.len()];
        let mut may_end = vec![false; run.steps.len()];
        for (step, state) in run.steps.iter().enumerate() {
            let planned = plan.step(step);
            if !is_undecided(state) {
                let is_over = matches!(state.status, StepStatus::Completed | StepStatus::Skipped);
                may_end[step] = is_over || ending.contains(&step);
                continue;
            }
            if !planned.deps.iter().all(|dep| may_end[*dep]) {
                continue;
            }
            let may_be_skipped = planned.has_condition() && planned.when_unmet != OnSkip::Fail;
            may_end[step] = planned.is_map || may_be_skipped;
            if planned.has_condition() {
                planned.deps.iter().for_each(|dep| wanted[*dep] = true);
            }
        }
        let is_missing = |step: &usize| {
            let state = &run.steps[*step];
            wanted[*step] && (state.output == Output::Stored || state.status == StepStatus::Started)
        };
        (0..run.steps.len()).filter(is_missing).collect()
    }
}

impl RunState {
    /// Whether a retry may look at the run's input: a first step with a condition has not begun.
    pub fn wants_input(&self, plan: &Plan) -> bool {
        let looks = |(step, state): (&PlanStep, &StepState)| {
            step.deps.is_empty() && step.has_condition() && is_undecided(state)
        };
        plan.steps().iter().zip(&self.steps).any(looks)
    }
}

/// Whether it has not begun, or failed before it did: then a retry looks at it again.
fn is_undecided(step: &StepState) -> bool {
    match step.status {
        StepStatus::Created => true,
        StepStatus::Failed => step.remaining_tasks.is_none(),
        StepStatus::Started | StepStatus::Completed | StepStatus::Skipped => false,
    }
}
