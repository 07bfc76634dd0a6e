//! From a claimed task to what its handler is called with.

use std::sync::Arc;

use pgflow_model::StepKind;
use serde_json::Value;

use super::attempt::Attempt;
use super::desk::Desk;
use crate::backend::BackendError;
use crate::{Context, Task};

/// What the handler is called with.
pub(super) async fn task(attempt: &Attempt, desk: &Desk) -> Result<Task, BackendError> {
    let task = Task::new(context(attempt)).with_states(desk.states.clone());
    let input = attempt.task.input.clone();
    match attempt.step.kind {
        StepKind::Map if attempt.step.takes_run => {
            let run = desk.run_input(attempt.task.lease.task.run).await?;
            Ok(task.with_run(run).with_item(input))
        }
        StepKind::Map => Ok(task.with_item(input)),
        StepKind::Single => Ok(with_object(task, input, attempt)),
    }
}

fn context(attempt: &Attempt) -> Context {
    let lease = &attempt.task.lease;
    let run_id = Arc::from(lease.task.run.to_string());
    Context::new(run_id, attempt.served.flow().slug, attempt.step.slug)
        .with_index(lease.task.index as usize)
        .with_attempt(lease.attempt)
        .with_cancel(attempt.cancel.clone())
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
