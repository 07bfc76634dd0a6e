//! Corners of the memory backend that the checks of every backend do not reach.

use pgflow_machine::{Retry, RunId, RunStatus, Settle, Settled, Verdict, WorkerId};
use pgflow_model::{FlowShape, StepShape};
use pgflow_runtime::backend::{
    Claim, ClaimedTask, Definitions, FlowVersion, NewRun, Parts, Retried, Runs, Started, Work,
};
use pgflow_runtime::memory::Memory;
use pgflow_runtime::testing::block_on;
use serde_json::{Value, json};

/// A run of a flow of these steps.
struct Run {
    memory: Memory,
    id: RunId,
}

impl Run {
    fn start(steps: Vec<StepShape>) -> Self {
        let memory = Memory::new();
        let mut shape = FlowShape::new("flow");
        shape.steps = steps;
        let version = FlowVersion { flow: "flow".into(), version: 1, slug: "flow".into(), shape };
        block_on(memory.ensure_flow(&version)).expect("a flow");
        let id = RunId::from_key("flow", "test");
        let new = NewRun::new("flow", Value::Null, id);
        assert_eq!(block_on(memory.start(new)).expect("a start"), Started::Created);
        Self { memory, id }
    }

    fn claim(&self) -> Vec<ClaimedTask> {
        let claim = Claim::of_queues(["flow"], 100, WorkerId::new());
        block_on(self.memory.claim(&claim)).expect("a claim").tasks
    }

    fn settle(&self, batch: &[Settle]) -> Vec<Settled> {
        block_on(self.memory.settle(batch, None)).expect("outcomes").settled
    }

    fn log(&self) -> Vec<String> {
        let events = block_on(self.memory.events(self.id, 0, 100)).expect("events");
        events.into_iter().map(|event| event.what.to_string()).collect()
    }

    fn status(&self) -> RunStatus {
        block_on(self.memory.run(self.id, Parts::Run)).expect("memory").expect("the run").status
    }
}

fn done(task: &ClaimedTask, output: Value) -> Settle {
    Settle { lease: task.lease.clone().into(), verdict: Verdict::Completed(output) }
}

fn failed(task: &ClaimedTask, retry: Retry) -> Settle {
    let verdict = Verdict::Failed { error: "no".into(), retry };
    Settle { lease: task.lease.clone().into(), verdict }
}

fn step(slug: &str) -> StepShape {
    StepShape::new(slug)
}

#[test]
fn what_comes_before_a_type_violation_in_a_batch_goes_its_way_first() {
    let steps = vec![
        step("first"),
        step("list"),
        step("map").map().after("list"),
        step("next").after("first"),
        step("z"),
    ];
    let run = Run::start(steps);
    let tasks = run.claim();
    let outputs = [json!(1), json!("no array"), json!(1)];
    let batch: Vec<_> =
        tasks.iter().zip(outputs).map(|(task, output)| done(task, output)).collect();
    let steps: Vec<_> = tasks.iter().map(|task| &*task.lease.task.step).collect();
    assert_eq!(steps, ["first", "list", "z"]);
    assert_eq!(run.settle(&batch), [Settled::Applied, Settled::Applied, Settled::RunEnded]);
    let expected = ["step:completed first", "step:started next", "run:failed", "step:failed list"];
    assert_eq!(run.log()[4..], expected);
}

#[test]
fn a_failure_that_comes_after_the_run_s_gives_the_task_a_fresh_budget() {
    let mut slow = step("slow");
    slow.options.max_attempts = Some(2);
    slow.options.base_delay = Some(0);
    let run = Run::start(vec![step("bad"), slow]);
    let [bad, slow] = &run.claim()[..] else { panic!("two tasks") };
    assert_eq!(run.settle(&[failed(slow, Retry::ByPolicy)]), [Settled::Applied]);
    let [second] = &run.claim()[..] else { panic!("slow again") };
    assert_eq!(run.settle(&[failed(bad, Retry::Never)]), [Settled::Applied]);
    assert_eq!(run.settle(&[failed(second, Retry::ByPolicy)]), [Settled::RunEnded]);

    assert_eq!(block_on(run.memory.retry(run.id)).expect("a retry"), Retried::Retried);
    let [_, third] = &run.claim()[..] else { panic!("both again") };
    assert_eq!(third.lease.attempt, 3);
    assert_eq!(run.settle(&[failed(third, Retry::ByPolicy)]), [Settled::Applied]);
    assert_eq!(run.status(), RunStatus::Started, "it has one attempt left");
    let [fourth] = &run.claim()[..] else { panic!("slow again") };
    assert_eq!(run.settle(&[failed(fourth, Retry::ByPolicy)]), [Settled::Applied]);
    assert_eq!(run.status(), RunStatus::Failed);
}
