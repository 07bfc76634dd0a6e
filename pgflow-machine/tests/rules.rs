//! Rules of runs, a test each.

use std::sync::Arc;

use pgflow_machine::{
    Catalog, Change, CompiledFor, Effect, Finished, FlowVersion, Limits, NewRun, Output, Plan,
    RunId, RunState, StepStatus, Turn, Version, Violation, excess,
};
use pgflow_model::{FlowShape, OnSkip, Pattern, StepShape};
use serde_json::{Value, json};

fn flow(steps: Vec<StepShape>) -> FlowShape {
    FlowShape { steps, ..FlowShape::new("f") }
}

fn step(slug: &str) -> StepShape {
    StepShape::new(slug)
}

fn plan(steps: Vec<StepShape>) -> Plan {
    Plan::new(&flow(steps)).expect("a flow")
}

fn start(plan: &Plan, input: Value) -> (RunState, Change) {
    Turn::start(plan, Arc::new(input), &Limits::default()).expect("a start")
}

fn turn(plan: &Plan, run: &mut RunState, act: impl FnOnce(&mut Turn<'_>)) -> Change {
    let mut turn = Turn::new(plan, run);
    act(&mut turn);
    turn.end()
}

fn finish(plan: &Plan, run: &mut RunState, step: usize, output: Value) -> Change {
    turn(plan, run, |turn| {
        assert!(turn.count_down(step, 1), "its last task");
        let output = Output::Loaded(Arc::new(output));
        turn.finish(&[Finished { step, output, elements: None }]).expect("all is loaded");
    })
}

fn exhaust(plan: &Plan, run: &mut RunState, step: usize) -> Change {
    turn(plan, run, |turn| turn.exhaust(step, "no luck").expect("all is loaded"))
}

fn pattern(value: Value) -> Pattern {
    Pattern::try_from(value).expect("a pattern")
}

fn skipping(slug: &str, when_exhausted: OnSkip) -> StepShape {
    StepShape { when_exhausted, ..step(slug) }
}

#[test]
fn conditions_decide_what_runs() {
    let mut picky = StepShape { when_unmet: OnSkip::Skip, ..step("picky") };
    picky.only_if = Some(pattern(json!({ "paid": true })));
    picky.unless = Some(pattern(json!({ "express": true })));
    let plan = plan(vec![picky, step("z")]);
    for (input, status) in [
        (json!({ "paid": true }), StepStatus::Started),
        (json!({ "paid": true, "express": true }), StepStatus::Skipped),
        (json!({ "express": true }), StepStatus::Skipped),
        (json!({}), StepStatus::Skipped),
    ] {
        assert_eq!(start(&plan, input.clone()).0.steps[0].status, status, "{input}");
    }
}

#[test]
fn conditions_of_what_a_skip_made_ready_are_seen_too() {
    let mut first = StepShape { when_unmet: OnSkip::Skip, ..step("first") };
    first.only_if = Some(pattern(json!({ "paid": true })));
    let mut second = StepShape { when_unmet: OnSkip::Skip, ..step("second").after("first") };
    second.only_if = Some(pattern(json!({ "first": 1 })));
    let plan = plan(vec![first, second, step("z")]);
    let statuses: Vec<_> =
        start(&plan, json!({})).0.steps.into_iter().map(|step| step.status).collect();
    assert_eq!(statuses, [StepStatus::Skipped, StepStatus::Skipped, StepStatus::Started]);
}

#[test]
fn leaves_are_what_a_run_puts_out() {
    let plan = plan(vec![step("a"), step("z").after("a")]);
    let (mut run, _) = start(&plan, json!(null));
    finish(&plan, &mut run, 0, json!(1));
    let change = finish(&plan, &mut run, 1, json!(2));
    assert_eq!(change.effects, [Effect::Output { leaves: vec![1] }]);
}

#[test]
fn delays_are_kept_and_single_steps_come_before_maps() {
    let mut later = step("later");
    later.options.start_delay = Some(9);
    let plan = plan(vec![later, step("map").map(), step("single")]);
    let (_, change) = start(&plan, json!([1]));
    let spawned: Vec<_> = change
        .effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Spawn { step, delay, .. } => Some((&*plan.step(*step).slug, delay.as_secs())),
            _ => None,
        })
        .collect();
    assert_eq!(spawned, [("single", 0), ("map", 0), ("later", 9)]);
}

#[test]
fn an_exhausted_skip_takes_its_tasks_away_and_a_failure_those_of_the_run() {
    let plan = plan(vec![skipping("a", OnSkip::Skip), step("b")]);
    let (mut run, _) = start(&plan, json!(null));
    assert_eq!(exhaust(&plan, &mut run, 0).effects, [Effect::DropStep { step: 0 }]);
    assert_eq!(exhaust(&plan, &mut run, 1).effects, [Effect::DropRun]);
    assert_eq!(exhaust(&plan, &mut run, 1), Change::default(), "it has ended");
}

#[test]
fn an_exhausted_step_of_a_run_that_goes_on_ends_once() {
    let plan = plan(vec![skipping("a", OnSkip::Skip), step("b")]);
    let (mut run, _) = start(&plan, json!(null));
    exhaust(&plan, &mut run, 0);
    assert_eq!(exhaust(&plan, &mut run, 0), Change::default());
}

#[test]
fn a_cancelled_run_hands_out_nothing() {
    let plan = plan(vec![step("a")]);
    let (mut run, _) = start(&plan, json!(null));
    let change = turn(&plan, &mut run, |turn| assert!(turn.cancel(None)));
    assert_eq!(change.effects, [Effect::DropRun]);
    let change = turn(&plan, &mut run, |turn| {
        assert!(!turn.retry().expect("all is loaded"), "only what failed can be retried");
    });
    assert_eq!(change, Change::default());
}

#[test]
fn a_map_of_a_map_takes_any_output() {
    let plan = plan(vec![step("list").map(), step("each").map().after("list")]);
    let (run, _) = start(&plan, json!([1]));
    assert_eq!(Violation::of(&plan, &run, 0, &json!("no array")), None);
}

#[test]
fn versions_are_chosen_by_flow_and_number() {
    let version = |id, flow: &str, number: u32| {
        let shape = FlowShape { steps: vec![step("a")], ..FlowShape::new(flow) };
        let slug = format!("{flow}_v{number}");
        let version = FlowVersion { flow: flow.into(), version: number, slug, shape };
        Version::new(id, version, Some("same".into())).expect("a flow")
    };
    let catalog = Catalog::new([version(1, "f", 1), version(2, "f", 2), version(3, "g", 3)]);
    assert_eq!(catalog.newest("f").map(|version| version.id), Some(2));
    let mut new = NewRun::new("f", json!(null), RunId::from_key("f", "k"));
    let program = CompiledFor { versions: vec![1], interface: Some("same".into()) };
    new.compiled_for = Some(Arc::new(program));
    assert_eq!(catalog.to_start(&new).map(|version| version.id), Ok(2));
}

#[test]
fn excess_is_what_the_leaves_put_out_together() {
    let plan = plan(vec![step("a"), step("b")]);
    assert_eq!(excess(&plan, &[(0, 60), (1, 40)], &[], 100), []);
    let found = excess(&plan, &[(0, 60), (1, 41)], &[], 100);
    assert_eq!(found.iter().map(|excess| excess.step).collect::<Vec<_>>(), [1]);
}

#[test]
fn own_options_win_over_those_of_the_flow() {
    let mut own = step("own");
    own.options.timeout = Some(7);
    let mut flow = flow(vec![own, step("other")]);
    flow.options.timeout = Some(50);
    let plan = Plan::new(&flow).expect("a flow");
    let timeout = |slug: &str| plan.step(plan.index(slug).expect("a step")).timeout;
    assert_eq!((timeout("own"), timeout("other")), (7, 50));
}
