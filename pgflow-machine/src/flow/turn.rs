//! Transitions of a run. The caller holds whatever lock its database has for the run.

mod advance;
mod finish;
mod retry;
mod skip;
mod start;
mod violation;
mod wanted;

pub use finish::Finished;
pub use start::StartError;
pub use violation::{Violation, elements};

use crate::{Change, Effect, Entry, Output, Plan, RunState, RunStatus, StepStatus};

/// A value that a condition asks for was not loaded: a mistake of the caller, see [`Turn::wanted`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the output of step {step} is needed for a condition and was not loaded")]
pub struct NotLoaded {
    /// Number of the step.
    pub step: usize,
}

/// One or more transitions of one run, in one transaction.
///
/// ```
/// use pgflow_machine::{Entry, Finished, Limits, Output, Plan, Turn};
/// use pgflow_model::{FlowShape, StepShape};
/// use serde_json::json;
/// use std::sync::Arc;
///
/// let mut flow = FlowShape::new("orders");
/// flow.steps = vec![StepShape::new("pay"), StepShape::new("ship").after("pay")];
/// let plan = Plan::new(&flow)?;
/// let (mut run, started) = Turn::start(&plan, Arc::new(json!({})), &Limits::default())?;
/// assert_eq!(started.log, [Entry::RunStarted, Entry::StepStarted { step: 0, tasks: 1 }]);
///
/// let mut turn = Turn::new(&plan, &mut run);
/// assert!(turn.count_down(0, 1), "its only task is done");
/// turn.finish(&[Finished { step: 0, output: Output::Stored, elements: None }])?;
/// let change = turn.end();
/// assert_eq!(
///     change.log,
///     [Entry::StepCompleted { step: 0 }, Entry::StepStarted { step: 1, tasks: 1 }]
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Turn<'a> {
    plan: &'a Plan,
    run: &'a mut RunState,
    change: Change,
}

impl<'a> Turn<'a> {
    /// On a run of this version.
    pub fn new(plan: &'a Plan, run: &'a mut RunState) -> Self {
        Self { plan, run, change: Change::default() }
    }

    /// What is to be written.
    pub fn end(self) -> Change {
        self.change
    }

    /// The run as it is now.
    pub fn run(&self) -> &RunState {
        self.run
    }

    /// Ends a step one of whose tasks has no attempt left, as its `when_exhausted` says.
    pub fn exhaust(&mut self, step: usize, error: &str) -> Result<(), NotLoaded> {
        if !self.is_live(step) {
            return Ok(());
        }
        self.end_exhausted(step, error)
    }

    /// Ends the run. Returns whether it was going on.
    pub fn cancel(&mut self, reason: Option<&str>) -> bool {
        if self.run.status.has_ended() {
            return false;
        }
        self.set_run(RunStatus::Cancelled);
        self.change.effects.push(Effect::DropRun);
        self.log(Entry::RunCancelled { reason: reason.map(str::to_owned) });
        true
    }

    /// Whether tasks of this step can still be completed or fail.
    pub fn is_live(&self, step: usize) -> bool {
        self.run.is_live(step)
    }

    /// Fails a step and its run.
    fn fail(&mut self, step: usize, error: &str) {
        self.set_failed(step, error);
        self.log(Entry::StepFailed { step, error: error.to_owned() });
        self.log(Entry::RunFailed { error: Some(error.to_owned()) });
    }

    fn set_failed(&mut self, step: usize, error: &str) {
        let state = self.step_mut(step);
        state.status = StepStatus::Failed;
        state.error = Some(error.to_owned());
        self.set_run(RunStatus::Failed);
        self.change.effects.push(Effect::DropRun);
    }

    fn set_completed(&mut self, step: usize, output: Output) {
        let state = self.step_mut(step);
        state.status = StepStatus::Completed;
        state.remaining_tasks = Some(0);
        state.output = output;
        self.log(Entry::StepCompleted { step });
        self.take_off_run(1);
    }

    fn set_run(&mut self, status: RunStatus) {
        self.change.run = true;
        self.run.status = status;
    }

    fn take_off_run(&mut self, steps: u32) {
        self.change.run = true;
        self.run.remaining_steps -= steps;
    }

    fn step_mut(&mut self, step: usize) -> &mut crate::StepState {
        self.change.steps.insert(step);
        &mut self.run.steps[step]
    }

    fn log(&mut self, entry: Entry) {
        self.change.log.push(entry);
    }
}
