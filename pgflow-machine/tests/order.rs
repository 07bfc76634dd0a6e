//! Which events follow from what, in which order: that of the SQL core.

use std::sync::Arc;

use pgflow_machine::{Change, Finished, Limits, Output, Plan, RunState, Turn, Violation, elements};
use pgflow_model::{FlowShape, OnSkip, Pattern, StepShape};
use serde_json::{Value, json};

struct Run {
    plan: Plan,
    state: RunState,
    log: Vec<String>,
}

impl Run {
    fn start(steps: Vec<StepShape>, input: Value) -> Self {
        let mut flow = FlowShape::new("f");
        flow.steps = steps;
        let plan = Plan::new(&flow).expect("a flow");
        let (state, change) =
            Turn::start(&plan, Arc::new(input), &Limits::default()).expect("a start");
        let mut run = Self { plan, state, log: Vec::new() };
        run.record(change);
        run
    }

    fn record(&mut self, change: Change) {
        let words =
            |entry: pgflow_machine::Entry| entry.happened(&self.plan, |_| Value::Null).to_string();
        self.log.extend(change.log.into_iter().map(words));
    }

    fn turn(&mut self, act: impl FnOnce(&Plan, &mut Turn<'_>)) -> Vec<String> {
        self.log.clear();
        let mut turn = Turn::new(&self.plan, &mut self.state);
        act(&self.plan, &mut turn);
        let change = turn.end();
        self.record(change);
        self.log.clone()
    }

    /// Completes all tasks of these steps in one batch.
    fn complete(&mut self, steps: &[(&str, Value)]) -> Vec<String> {
        self.turn(|plan, turn| {
            let finished = steps.iter().map(|(slug, output)| {
                let step = plan.index(slug).expect("a step");
                let tasks = turn.run().steps[step].remaining_tasks.expect("it has started");
                assert!(turn.count_down(step, tasks));
                let elements = elements(plan, step, output, &Limits::default()).expect("few");
                Finished { step, output: Output::Loaded(Arc::new(output.clone())), elements }
            });
            let finished: Vec<_> = finished.collect();
            turn.finish(&finished).expect("all is loaded");
        })
    }

    fn exhaust(&mut self, step: &str) -> Vec<String> {
        self.turn(|plan, turn| {
            turn.exhaust(plan.index(step).expect("a step"), "no luck").expect("all is loaded");
        })
    }
}

fn step(slug: &str) -> StepShape {
    StepShape::new(slug)
}

fn only_if(step: StepShape, pattern: Value, when_unmet: OnSkip) -> StepShape {
    StepShape { only_if: Some(Pattern::try_from(pattern).expect("an object")), when_unmet, ..step }
}

#[test]
fn a_batch_completes_all_its_steps_before_the_next_start() {
    let steps = vec![step("a"), step("b"), step("c").after("b"), step("d").after("a")];
    let mut run = Run::start(steps, json!(null));
    assert_eq!(run.log, ["run:started", "step:started a", "step:started b"]);
    let log = run.complete(&[("b", json!(1)), ("a", json!(1))]);
    // `c` and `d` are numbered after `a` and `b`, by name.
    let started = ["step:completed a", "step:completed b", "step:started c", "step:started d"];
    assert_eq!(log, started);
    let log = run.complete(&[("c", json!(1)), ("d", json!(1))]);
    assert_eq!(log, ["step:completed c", "step:completed d", "run:completed"]);
}

#[test]
fn maps_over_nothing_complete_wave_by_wave() {
    let steps = vec![step("all").map(), step("each").map().after("all"), step("sum").after("each")];
    let run = Run::start(steps, json!([]));
    let log = ["run:started", "step:completed all", "step:completed each", "step:started sum"];
    assert_eq!(run.log, log);
}

#[test]
fn a_condition_is_seen_before_a_step_that_a_cascade_made_ready() {
    let picky = only_if(step("picky").after("all"), json!({ "all": [1] }), OnSkip::Skip);
    let run = Run::start(vec![step("all").map(), picky, step("last").after("picky")], json!([]));
    let log = ["run:started", "step:completed all", "step:skipped picky", "step:started last"];
    assert_eq!(run.log, log);
}

#[test]
fn a_map_over_nothing_is_skipped_if_its_condition_says_so() {
    let picky = only_if(step("picky").map().after("all"), json!({ "all": [1] }), OnSkip::Skip);
    let run = Run::start(vec![step("all").map(), picky], json!([]));
    let log = ["run:started", "step:completed all", "step:skipped picky", "run:completed"];
    assert_eq!(run.log, log);
}

#[test]
fn an_unmet_condition_may_fail_the_run() {
    let picky = only_if(step("picky"), json!({ "pay": true }), OnSkip::Fail);
    let run = Run::start(vec![step("other"), picky], json!({}));
    assert_eq!(run.log, ["run:started", "step:failed picky", "run:failed"]);
}

#[test]
fn a_cascade_skips_all_below_in_order() {
    let first = StepShape { when_exhausted: OnSkip::SkipCascade, ..step("first") };
    let steps = vec![
        first,
        step("other"),
        step("below").after("first"),
        step("deep").after("below").after("other"),
    ];
    let mut run = Run::start(steps, json!(null));
    assert_eq!(
        run.exhaust("first"),
        ["step:skipped first", "step:skipped below", "step:skipped deep"]
    );
    assert_eq!(run.complete(&[("other", json!(1))]), ["step:completed other", "run:completed"]);
    let deep = &run.state.steps[run.plan.index("deep").expect("a step")];
    assert_eq!(deep.remaining_deps, 2, "nobody counts for a step that is over");
}

#[test]
fn a_map_whose_only_dependency_was_skipped_has_nothing_to_do() {
    let list = StepShape { when_exhausted: OnSkip::Skip, ..step("list") };
    let mut run = Run::start(vec![list, step("each").map().after("list")], json!(null));
    let log = ["step:skipped list", "step:completed each", "run:completed"];
    assert_eq!(run.exhaust("list"), log);
}

#[test]
fn a_type_violation_tells_of_the_run_first() {
    let mut run = Run::start(vec![step("list"), step("each").map().after("list")], json!(null));
    let violation = Violation::of(&run.plan, &run.state, 0, &json!({})).expect("it is no array");
    assert_eq!(violation.task_error(), "[TYPE_VIOLATION] Produced object instead of array");
    assert_eq!(run.turn(|_, turn| turn.violate(&violation)), ["run:failed", "step:failed list"]);
    let error =
        "[TYPE_VIOLATION] Map step each expects array input but dependency list produced object";
    assert_eq!(run.state.steps[0].error.as_deref(), Some(error));
    let again = run.turn(|_, turn| turn.violate(&violation));
    assert_eq!(again, Vec::<String>::new(), "the run has ended");
}

#[test]
fn a_retry_starts_the_failed_step_again() {
    let mut run = Run::start(vec![step("a"), step("b")], json!(null));
    assert_eq!(run.exhaust("a"), ["step:failed a", "run:failed"]);
    assert_eq!(run.exhaust("b"), Vec::<String>::new(), "the run has ended");
    let log = run.turn(|_, turn| assert!(turn.retry().expect("all is loaded")));
    assert_eq!(log, ["run:retried", "step:started a"]);
    assert_eq!(run.state.steps[0].error, None);
    let log = run.complete(&[("a", json!(1)), ("b", json!(2))]);
    assert_eq!(log, ["step:completed a", "step:completed b", "run:completed"]);
}

#[test]
fn a_step_that_put_out_too_much_fails_again_when_the_run_is_retried() {
    let mut run = Run::start(vec![step("m").map(), step("z").after("m")], json!([1]));
    let log = run.turn(|plan, turn| {
        assert!(turn.count_down(0, 1));
        for it in pgflow_machine::excess(plan, &[(0, 11)], &[], 10) {
            turn.exhaust(it.step, &it.error).expect("all is loaded");
        }
    });
    let error = "Output too large: the outputs of step m together have more than 10 bytes";
    assert_eq!(log, ["step:failed m", "run:failed"]);
    assert_eq!(run.state.steps[0].error.as_deref(), Some(error));
    let log = run.turn(|_, turn| assert!(turn.retry().expect("all is loaded")));
    assert_eq!(log, ["run:retried", "step:started m", "step:failed m", "run:failed"]);
    assert_eq!(run.state.steps[0].error.as_deref(), Some(error));
}
