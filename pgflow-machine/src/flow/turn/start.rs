//! The first transition.

use std::sync::Arc;

use serde_json::Value;

use super::{NotLoaded, Turn};
use crate::{
    Change, Entry, Limits, Output, PayloadError, Plan, PlanStep, RunState, RunStatus, StepState,
    StepStatus, type_name,
};

/// Why a run can't start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A step maps over the run's input, which is no array.
    #[error("the flow maps over the run's input, which must be an array and is {found}")]
    NotAnArray {
        /// What it is, as `jsonb_typeof` says it.
        found: &'static str,
    },
    /// A step maps over the run's input, which is too long.
    #[error("cannot map over the run's input: {0}")]
    TooWide(PayloadError),
    /// Cannot happen: at a start nothing is stored elsewhere.
    #[error(transparent)]
    NotLoaded(#[from] NotLoaded),
}

impl<'a> Turn<'a> {
    /// A new run, with its first steps started as far as they can be.
    pub fn start(
        plan: &'a Plan,
        input: Arc<Value>,
        limits: &Limits,
    ) -> Result<(RunState, Change), StartError> {
        let elements = root_elements(plan, &input, limits)?;
        let steps: Vec<_> = plan.steps().iter().map(|step| new_step(step, elements)).collect();
        let mut run = RunState {
            status: RunStatus::Started,
            remaining_steps: u32::try_from(steps.len()).unwrap_or(u32::MAX),
            steps,
            input: Some(input),
        };
        let mut turn = Turn::new(plan, &mut run);
        turn.change.run = true;
        turn.change.steps = (0..plan.steps().len()).collect();
        turn.log(Entry::RunStarted);
        turn.advance()?;
        let change = turn.end();
        Ok((run, change))
    }
}

/// How many tasks root maps get.
fn root_elements(plan: &Plan, input: &Value, limits: &Limits) -> Result<u32, StartError> {
    if !plan.has_root_map() {
        return Ok(0);
    }
    let found = type_name(input);
    let elements = input.as_array().ok_or(StartError::NotAnArray { found })?.len();
    limits.check_fanout(elements).map_err(StartError::TooWide)
}

fn new_step(step: &PlanStep, elements: u32) -> StepState {
    StepState {
        status: StepStatus::Created,
        remaining_deps: u32::try_from(step.deps.len()).unwrap_or(u32::MAX),
        initial_tasks: match (step.is_map, step.deps.is_empty()) {
            (false, _) => Some(1),
            (true, true) => Some(elements),
            (true, false) => None,
        },
        remaining_tasks: None,
        error: None,
        skip_reason: None,
        output: Output::None,
    }
}
