//! Flows, and what workers do with them.

use std::error::Error;

use pgflow_machine::{RunId, Settle, Settled, TaskLease, Verdict, WorkerId};
use pgflow_model::{FlowShape, StepShape};
use pgflow_runtime::backend::{Backend, BackendError, Claim, Claimed, FlowVersion, NewRun};
use serde_json::Value;

/// What an error says, with its causes.
pub fn text(error: &BackendError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

fn version(slug: &str, steps: Vec<StepShape>) -> FlowVersion {
    let mut shape = FlowShape::new(slug);
    shape.steps = steps;
    FlowVersion { flow: slug.to_owned(), version: 1, slug: slug.to_owned(), shape }
}

/// A flow of so many steps, each after the one before it.
pub fn chain(slug: &str, steps: usize) -> FlowVersion {
    let step = |n: usize| {
        let step = StepShape::new(format!("s{n}"));
        if n == 0 { step } else { step.after(format!("s{}", n - 1)) }
    };
    version(slug, (0..steps).map(step).collect())
}

/// A flow of one step that has a task for each element of the run's input.
pub fn map(slug: &str) -> FlowVersion {
    version(slug, vec![StepShape::new("each").map()])
}

/// Registers a flow.
///
/// # Panics
/// When the database refuses.
pub async fn ensure(backend: &dyn Backend, version: &FlowVersion) {
    backend.ensure_flow(version).await.unwrap_or_else(|error| panic!("{}", text(&error)));
}

/// Starts a run.
///
/// # Panics
/// When the database refuses.
pub async fn start(backend: &dyn Backend, flow: &str, input: Value) -> RunId {
    let id = RunId::new();
    let started = backend.start(NewRun::new(flow, input, id)).await;
    started.unwrap_or_else(|error| panic!("{}", text(&error)));
    id
}

/// Claims tasks of a flow.
///
/// # Panics
/// When the database refuses.
pub async fn claim(backend: &dyn Backend, flow: &str, max: u32, worker: WorkerId) -> Claimed {
    let claim = Claim::of_queues([flow], max, worker);
    backend.claim(&claim).await.unwrap_or_else(|error| panic!("{}", text(&error)))
}

/// Completes tasks.
///
/// # Panics
/// When the database refuses.
pub async fn complete(backend: &dyn Backend, leases: &[TaskLease], output: &Value) -> Vec<Settled> {
    let settle = |lease: &TaskLease| Settle {
        lease: lease.clone().into(),
        verdict: Verdict::Completed(output.clone()),
    };
    let settles: Vec<_> = leases.iter().map(settle).collect();
    backend.settle(&settles, None).await.unwrap_or_else(|error| panic!("{}", text(&error))).settled
}
