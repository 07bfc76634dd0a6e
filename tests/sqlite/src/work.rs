//! Flows, and what workers do with them.

use pgflow_machine::{RunId, Settle, Verdict, WorkerId};
use pgflow_model::{FlowShape, StepShape};
use pgflow_runtime::backend::{Backend, Claim, ClaimedTask, Ensured, FlowVersion, NewRun, Started};
use serde_json::{Value, json};

/// A flow with one map over the run's input.
pub fn map(slug: &str) -> FlowShape {
    let mut flow = FlowShape::new(slug);
    flow.steps = vec![StepShape::new("each").map()];
    flow
}

/// A flow of steps that follow each other.
pub fn chain(slug: &str, steps: usize) -> FlowShape {
    let mut flow = FlowShape::new(slug);
    for at in 0..steps {
        let step = StepShape::new(format!("s{at}"));
        let step = if at > 0 { step.after(format!("s{}", at - 1)) } else { step };
        flow.steps.push(step);
    }
    flow
}

/// Registers a flow as its only version.
///
/// # Panics
/// If there is another one of that name.
pub async fn ensure(backend: &dyn Backend, shape: &FlowShape) {
    let (flow, slug) = (shape.slug.clone(), shape.slug.clone());
    let version = FlowVersion { flow, version: 1, slug, shape: shape.clone() };
    let ensured = backend.ensure_flow(&version).await.expect("it can be registered");
    assert!(matches!(ensured, Ensured::Created | Ensured::Same), "{ensured:?}");
}

/// Starts a run.
///
/// # Panics
/// If it can't be started.
pub async fn start(backend: &dyn Backend, flow: &str, input: Value) -> RunId {
    let id = RunId::new();
    let run = NewRun::new(flow, input, id);
    assert_eq!(backend.start(run).await.expect("it starts"), Started::Created);
    id
}

/// A claim of up to so many tasks of a flow.
pub fn claim(flow: &str, max: u32) -> Claim {
    Claim::of_queues([flow], max, WorkerId::new())
}

/// Completions of these tasks.
pub fn complete(tasks: Vec<ClaimedTask>) -> Vec<Settle> {
    let settle = |task: ClaimedTask| Settle {
        lease: task.lease.into(),
        verdict: Verdict::Completed(json!({ "ok": true })),
    };
    tasks.into_iter().map(settle).collect()
}
