//! What a step of a test waits for, at once.

use serde_json::{Value, json};

use super::RunError;
use super::run::TestRun;
use super::runner::Given;
use crate::wait::{On, Wait};
use crate::{Error, FlowDef, StepDef};

/// What the attempt comes to.
pub(super) async fn awaited(
    flow: &'static FlowDef,
    step: &'static StepDef,
    wait: Wait,
    given: &Given,
) -> Result<Result<Value, Error>, RunError> {
    match wait.on {
        On::Sleep(_) => Ok(Ok(Value::Null)),
        On::Hook(_) => answer(flow, step, given),
        On::Runs { flow, inputs, each } => {
            let mut outputs = Vec::with_capacity(inputs.len());
            for input in inputs {
                match child(flow, input, wait.outcomes, given).await? {
                    Ok(output) => outputs.push(output),
                    Err(error) => return Ok(Err(error)),
                }
            }
            let only = |mut outputs: Vec<Value>| outputs.pop().unwrap_or_default();
            Ok(Ok(if each { Value::Array(outputs) } else { only(outputs) }))
        }
        On::Jobs { .. } => Err(RunError::Jobs { step: step.slug }),
    }
}

/// Nobody else answers: who waits for a while only, waits in vain.
fn answer(flow: &FlowDef, step: &StepDef, given: &Given) -> Result<Result<Value, Error>, RunError> {
    match (given.answers.get(&(flow.slug, step.slug)), step.options.wait_timeout) {
        (Some(answer), _) => Ok(Ok(answer.clone())),
        (None, Some(seconds)) => {
            Ok(Err(Error::from(format!("nobody answered within {seconds} s"))))
        }
        (None, None) => Err(RunError::Answer { step: step.slug }),
    }
}

async fn child(
    flow: &'static FlowDef,
    input: Value,
    outcomes: bool,
    given: &Given,
) -> Result<Result<Value, Error>, RunError> {
    // A child may have children: the future of a test would hold itself.
    match Box::pin(TestRun::child(flow, input, given.clone())).await {
        Ok(output) if outcomes => Ok(Ok(json!({ "ok": output }))),
        Ok(output) => Ok(Ok(output)),
        Err(error @ (RunError::Step { .. } | RunError::Condition { .. })) if outcomes => {
            let message = error.to_string();
            Ok(Ok(json!({ "error": { "status": "failed", "message": message } })))
        }
        Err(error @ (RunError::Step { .. } | RunError::Condition { .. })) => {
            Ok(Err(Error::from(format!("a run of `{}` failed: {error}", flow.slug))))
        }
        Err(other) => Err(other),
    }
}
