//! What a task costs in memory does not depend on how many others there are.

use std::time::Duration;

use pgflow_machine::{RunId, Settle, Verdict, WorkerId};
use pgflow_model::{FlowShape, StepShape};
use pgflow_runtime::backend::{Claim, Definitions, FlowVersion, NewRun, Parts, Runs, Work};
use pgflow_runtime::memory::Memory;
use serde_json::Value;

const BATCH: u32 = 100;

/// How long this thread has had a CPU. Others that want it too make the clock go on, and not this.
fn on_cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let nanos = text.split(' ').next().and_then(|field| field.parse().ok());
    Duration::from_nanos(nanos.expect("a number of nanoseconds"))
}

/// Claims and completes all of a map, and says what a task cost.
async fn cost(width: u32) -> Duration {
    let memory = Memory::new();
    let mut shape = FlowShape::new("wide");
    shape.steps = vec![StepShape::new("each").map(), StepShape::new("last").after("each")];
    let version = FlowVersion { flow: "wide".into(), version: 1, slug: "wide".into(), shape };
    memory.ensure_flow(&version).await.expect("a flow");
    let input = Value::Array((0..width).map(Value::from).collect());
    let id = RunId::from_key("wide", "test");
    memory.start(NewRun::new("wide", input, id)).await.expect("a run");
    let claim = Claim::of_queues(["wide"], BATCH, WorkerId::new());
    let since = on_cpu();
    let mut tasks = memory.claim(&claim).await.expect("tasks").tasks;
    while tasks.len() == BATCH as usize {
        let done = tasks.into_iter().map(|task| Settle {
            lease: task.lease.into(),
            verdict: Verdict::Completed(task.input),
        });
        let done: Vec<_> = done.collect();
        tasks = memory.settle(&done, Some(&claim)).await.expect("applied").claimed.tasks;
    }
    let took = on_cpu().saturating_sub(since);
    let run = memory.run(id, Parts::Outputs).await.expect("memory").expect("the run");
    let output = run.steps[0].output.as_ref().and_then(Value::as_array).expect("an array");
    assert!(output.iter().zip(0..width).all(|(output, index)| *output == index), "out of order");
    took / width
}

#[test]
fn a_task_of_a_wide_map_costs_as_much_as_one_of_a_narrow_map() {
    let best = |width| {
        let costs = (0..3).map(|_| pgflow_runtime::testing::block_on(cost(width)));
        costs.min().expect("three tries")
    };
    let (narrow, wide) = (best(300), best(30_000));
    // A scan per claim would make it a hundred times as much.
    assert!(wide < narrow * 10, "{wide:?} instead of {narrow:?}");
}
