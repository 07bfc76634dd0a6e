//! Orders and limits.

use std::collections::HashMap;

use super::*;
use crate::{InputParts, Plan};

#[test]
fn failures_before_what_is_given_back() {
    let mut bench = Bench::start(vec![step("a"), step("b")], json!(null));
    let (a, b) = (bench.take("a", 0, NOW), bench.take("b", 0, NOW));
    let batch = [settle(&a, Verdict::Released), failed(&b, Retry::Never)];
    // The failure ends the run, so that there is nothing to give back to.
    assert_eq!(bench.settle(&batch), [Settled::RunEnded, Settled::Applied]);
}

#[test]
fn a_broken_batch_is_completed_task_by_task() {
    let steps =
        vec![step("a"), step("list"), step("next").after("a"), step("z").map().after("list")];
    let mut bench = Bench::start(steps, json!(null));
    let (a, list) = (bench.take("a", 0, NOW), bench.take("list", 0, NOW));
    assert_eq!(bench.settle(&[done(&a, json!(1)), done(&list, json!(1))]), [Settled::Applied; 2]);
    let plan = &bench.rows.runs[&run_id()].version.plan;
    let at = |slug: &str| plan.index(slug).expect("a step");
    let error =
        "[TYPE_VIOLATION] Map step z expects array input but dependency list produced number";
    let log = [
        Entry::StepCompleted { step: at("a") },
        Entry::StepStarted { step: at("next"), tasks: 1 },
        Entry::RunFailed { error: None },
        Entry::StepFailed { step: at("list"), error: error.into() },
    ];
    assert!(bench.log.ends_with(&log), "{:?}", bench.log);
}

#[test]
fn attempts_are_as_many_as_the_step_says() {
    let mut bench = Bench::start(vec![step("a")], json!(null));
    for attempt in 1..=3 {
        let lease = bench.take("a", 0, NOW);
        assert_eq!(lease.attempt, attempt);
        assert_eq!(bench.settle(&[failed(&lease, Retry::ByPolicy)]), [Settled::Applied]);
    }
    assert_eq!(bench.status(), RunStatus::Failed);
}

#[test]
fn a_quota_bounds_what_a_claim_takes_of_a_step() {
    let ready = |task: u32, queue| Ready { task, queue, ready_at: NOW };
    let room = Room { max: 5, quotas: vec![1, 5], flows: vec![1; 2], nth: 0 };
    let tasks = vec![ready(1, 0), ready(2, 0), ready(3, 1), ready(4, 1)];
    assert_eq!(Choice::new(tasks, NOW, room, |_| 0).tasks, [1, 3, 4]);
}

#[test]
fn input_parts_leave_out_what_was_skipped() {
    let mut flow = FlowShape::new("flow");
    flow.steps = vec![step("a"), step("b"), step("c").after("a").after("b")];
    let plan = Plan::new(&flow).expect("a flow");
    let mut parts = InputParts::default();
    parts.want(run_id(), &plan, 2);
    parts.load(HashMap::from([
        ((run_id(), Payload::RunInput), json!(7)),
        ((run_id(), Payload::StepOutput(1)), json!(null)),
    ]));
    assert_eq!(parts.input(run_id(), &plan, 2), json!({ "run": 7, "b": null }));
}

#[test]
fn an_output_that_takes_no_effect_makes_no_map_too_wide() {
    let mut bench = Bench::start(vec![step("list"), step("each").map().after("list")], json!(0));
    let lease = bench.take("list", 0, NOW);
    let zombie = TaskLease { attempt: 7, ..lease };
    let limits = Limits { max_fanout: 2, ..Limits::default() };
    let batch = [done(&zombie, json!([1, 2, 3]))];
    let outcomes = bench.decide(&SettleBatch { settles: &batch, limits }, NOW);
    assert_eq!(outcomes, [Settled::Fenced]);
}

#[test]
fn a_task_that_a_batch_spawns_is_known_to_that_batch() {
    let mut bench = Bench::start(vec![step("a"), step("b").after("a")], json!(0));
    let a = bench.take("a", 0, NOW);
    let b = TaskLease { task: TaskKey { step: "b".into(), ..a.task.clone() }, attempt: 1 };
    let c = TaskLease { task: TaskKey { index: 1, ..b.task.clone() }, attempt: 1 };
    let batch = [done(&b, json!(2)), done(&a, json!(1)), done(&c, json!(2))];
    assert_eq!(bench.settle(&batch), [Settled::Fenced, Settled::Applied, Settled::Unknown]);
}
