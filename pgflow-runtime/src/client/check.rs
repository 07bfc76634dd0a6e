//! Inputs are looked at before anything is written.

use pgflow_machine::{Limits, PayloadError, check_payload};
use pgflow_model::StepKind;
use serde_json::Value;

use super::ClientError;
use crate::backend::BackendError;
use crate::{DataError, FlowDef};

/// The input of a run as JSON that every database takes.
pub(crate) fn input_of(
    flow: &FlowDef,
    input: Result<Value, DataError>,
    limits: &Limits,
) -> Result<Value, ClientError> {
    let input = payload_of(input, limits)?;
    check_map(flow, &input, limits)?;
    Ok(input)
}

/// The input of a run of whatever flow.
pub(crate) fn payload_of(
    input: Result<Value, DataError>,
    limits: &Limits,
) -> Result<Value, ClientError> {
    let input = input.map_err(named)?;
    let payload = |source| ClientError::Payload { what: "the run's input".to_owned(), source };
    check_payload(&input, limits).map_err(payload)?;
    Ok(input)
}

/// The same errors have the same type, here and in the database.
fn named(error: DataError) -> ClientError {
    match error {
        DataError::Write { source: PayloadError::NotJson { .. }, .. } => ClientError::Data(error),
        DataError::Write { what, source } => ClientError::Payload { what, source },
        other => ClientError::Data(other),
    }
}

/// A flow whose first step is a map takes an array, and not too long a one.
fn check_map(flow: &FlowDef, input: &Value, limits: &Limits) -> Result<(), ClientError> {
    let is_root_map =
        |step: &crate::StepDef| step.kind == StepKind::Map && step.depends_on.is_empty();
    if !flow.steps.iter().any(is_root_map) {
        return Ok(());
    }
    let Value::Array(elements) = input else {
        let flow = flow.slug.to_owned();
        return Err(BackendError::NotAnArray { flow, found: kind(input) }.into());
    };
    let too_wide = |source| ClientError::Payload { what: "the run's input".to_owned(), source };
    limits.check_fanout(elements.len()).map(drop).map_err(too_wide)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
