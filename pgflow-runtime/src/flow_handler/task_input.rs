//! From a claimed task to what its handler is called with.

use std::sync::Arc;

use pgflow_model::StepKind;
use serde_json::Value;

use super::attempt::Attempt;
use super::shared::Shared;
use crate::backend::BackendError;
use crate::{Context, States, StepDef, Task};

/// What the handler is called with.
pub(super) async fn task(attempt: &Attempt, shared: &Shared) -> Result<Task, BackendError> {
    let run = if needs_run(attempt.step) {
        Some(shared.run_input(attempt.task.lease.task.run).await?)
    } else {
        None
    };
    Ok(with_run(attempt, shared.states.clone(), run))
}

/// Whether the run's input has to be read: a claim of a map's task has the element only.
pub(crate) fn needs_run(step: &StepDef) -> bool {
    step.kind == StepKind::Map && step.takes_run
}

/// What the handler is called with, from the run's input where it [needs](needs_run) that.
pub(crate) fn with_run(attempt: &Attempt, states: States, run: Option<Arc<Value>>) -> Task {
    let task = Task::new(context(attempt)).with_states(states);
    let input = attempt.task.input.clone();
    match (attempt.step.kind, run) {
        (StepKind::Map, Some(run)) => task.with_run(run).with_item(input),
        (StepKind::Map, None) => task.with_item(input),
        (StepKind::Single, _) => with_object(task, input, attempt),
    }
}

fn context(attempt: &Attempt) -> Context {
    let lease = &attempt.task.lease;
    let run_id = Arc::from(lease.task.run.to_string());
    Context::new(run_id, attempt.served.flow().slug, attempt.step.slug)
        .with_index(lease.task.index as usize)
        .with_attempt(lease.attempt)
        .with_cancel(attempt.signals.cancel.clone())
}

/// The run's input and the outputs of dependencies, by the names that the code has for them.
fn with_object(mut task: Task, input: Value, attempt: &Attempt) -> Task {
    let Value::Object(values) = input else { return task };
    for (slug, value) in values {
        task = match slug.as_str() {
            "run" => task.with_run(value),
            dep => task.with_output(attempt.served.current(dep), value),
        };
    }
    task
}
