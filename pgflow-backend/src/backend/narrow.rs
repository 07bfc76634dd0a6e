//! Reading a part of a run, for backends where reading all of it costs no more.

use pgflow_machine::RunId;
use serde_json::Value;

use super::{BackendError, Parts, RunSummary, Runs};

pub(super) async fn statuses<B: Runs + ?Sized>(
    backend: &B,
    runs: &[RunId],
) -> Result<Vec<RunSummary>, BackendError> {
    let mut found = Vec::new();
    for run in runs {
        let record = backend.run(*run, Parts::Steps).await?;
        found.extend(record.map(|record| RunSummary {
            id: record.id,
            flow: record.flow,
            status: record.status,
            remaining_steps: record.remaining_steps,
            started_at: record.started_at,
            ended_at: record.ended_at,
        }));
    }
    Ok(found)
}

pub(super) async fn input<B: Runs + ?Sized>(
    backend: &B,
    run: RunId,
) -> Result<Option<Value>, BackendError> {
    Ok(backend.run(run, Parts::Run).await?.and_then(|record| record.input))
}

pub(super) async fn outputs<B: Runs + ?Sized>(
    backend: &B,
    run: RunId,
    step: &str,
    first: u32,
    bytes: u32,
) -> Result<Vec<Value>, BackendError> {
    let record = backend.run(run, Parts::Outputs).await?;
    let steps = record.into_iter().flat_map(|record| record.steps);
    let Some(step) = steps.into_iter().find(|found| found.slug == step) else {
        return Ok(Vec::new());
    };
    let outputs = match step.output {
        Some(Value::Array(elements)) if step.is_map => elements,
        output => output.into_iter().collect(),
    };
    Ok(page(outputs.into_iter().skip(usize::try_from(first).unwrap_or(usize::MAX)), bytes))
}

/// The first of these that make up so many bytes, and one at least.
pub(crate) fn page(outputs: impl Iterator<Item = Value>, bytes: u32) -> Vec<Value> {
    let (mut page, mut length) = (Vec::new(), 0);
    for output in outputs {
        length += output.to_string().len();
        page.push(output);
        if length >= usize::try_from(bytes).unwrap_or(usize::MAX) {
            break;
        }
    }
    page
}
