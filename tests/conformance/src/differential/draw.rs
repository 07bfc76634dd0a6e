//! Draws flows, inputs and outputs.
//!
//! Timeouts and delays are whole thousands of seconds, and an advance is seven more than one, so that however many
//! advances there are (fewer than 50), time never stands at a boundary.

use pgflow_model::{FlowShape, OnSkip, StepKind, StepOptions, StepShape};
use serde_json::{Value, json};

use super::command::RUNS;
use super::random::Random;

pub(super) const ADVANCES: usize = 50;

pub(super) fn advance(random: &mut Random) -> u64 {
    *random.pick(&[1_007, 1_007, 2_007, 5_007, 100_007])
}

/// One per run.
pub(super) type Flows = [FlowShape; RUNS];

pub(super) fn flows(random: &mut Random) -> Flows {
    [(); RUNS].map(|()| flow(random))
}

fn flow(random: &mut Random) -> FlowShape {
    let mut flow = FlowShape::new("flow");
    flow.options = options(random, 1);
    for number in 0..=random.below(7) {
        let step = step(random, number, &flow);
        flow.steps.push(step);
    }
    flow
}

fn options(random: &mut Random, percent: usize) -> StepOptions {
    let mut maybe =
        |value: &[u32]| (percent == 1 || random.chance(30)).then(|| *random.pick(value));
    StepOptions {
        max_attempts: maybe(&[1, 2, 2, 3]),
        base_delay: maybe(&[0, 0, 1_000]),
        timeout: maybe(&[1_000, 2_000, 4_000]),
        ..StepOptions::INHERIT
    }
}

fn step(random: &mut Random, number: usize, flow: &FlowShape) -> StepShape {
    // Names whose order is not that of the definition, and whose case counts.
    let mut step = StepShape::new(format!("{}{number}", random.pick(&["a", "m", "Z"])));
    step.depends_on =
        flow.steps.iter().filter(|_| random.chance(35)).map(|s| s.slug.clone()).collect();
    if random.chance(35) {
        step.kind = StepKind::Map;
        step.depends_on.truncate(1);
    }
    step.options = options(random, 30);
    step.options.start_delay = random.chance(15).then_some(1_000);
    step.only_if = pattern(random, &step.depends_on);
    step.unless = pattern(random, &step.depends_on);
    step.when_unmet = mode(random);
    step.when_exhausted = mode(random);
    step
}

fn mode(random: &mut Random) -> OnSkip {
    *random.pick(&[OnSkip::Fail, OnSkip::Skip, OnSkip::Skip, OnSkip::SkipCascade])
}

fn pattern(random: &mut Random, deps: &[String]) -> Option<pgflow_model::Pattern> {
    if !random.chance(12) {
        return None;
    }
    let go = json!({"go": random.below(2)});
    let wanted = random.pick(&[json!([]), go.clone(), json!({}), json!([go.clone()])]).clone();
    let pattern = if deps.is_empty() { go } else { json!({ random.pick(deps).clone(): wanted }) };
    pattern.try_into().ok()
}

pub(super) fn input(random: &mut Random, flow: &FlowShape) -> Value {
    let is_mapped = flow.steps.iter().any(|s| s.kind == StepKind::Map && s.depends_on.is_empty());
    if is_mapped && random.chance(1) {
        return too_wide();
    }
    if is_mapped && !random.chance(5) { array(random) } else { json!({"go": random.below(2)}) }
}

/// Mostly an array where a map follows. Never one that is too wide: stores refuse such a settle, and the worker fails the task; Postgres
/// fails it on the same trip, so that the answers differ and the ends do not.
pub(super) fn output(random: &mut Random, flow: &FlowShape, step: &str) -> Value {
    let feeds_map = flow.steps.iter().any(|s| s.kind == StepKind::Map && s.depends_on == [step]);
    let is_map = flow.step(step).is_some_and(|step| step.kind == StepKind::Map);
    if feeds_map && !is_map && !random.chance(7) {
        return array(random);
    }
    random
        .pick(&[json!({"go": 0}), json!({"go": 1}), json!({}), json!(7), json!(null), json!([])])
        .clone()
}

/// More elements than a map may have. The other limits of payloads are looked at by clients and workers.
fn too_wide() -> Value {
    Value::Array(vec![json!(0); pgflow_machine::Limits::default().max_fanout + 1])
}

/// What handlers fail with: also nothing, what no database keeps as it is, and more than any keeps.
pub(super) fn error(random: &mut Random) -> String {
    let long = || "é".repeat(70_000);
    match random.below(20) {
        0 => String::new(),
        1 => "a\u{0}b".to_owned(),
        2 => long(),
        _ => "boom".to_owned(),
    }
}

fn array(random: &mut Random) -> Value {
    let element = |random: &mut Random| {
        random.pick(&[json!({"go": 1}), json!(null), json!("x"), json!([1]), json!(12)]).clone()
    };
    (0..random.below(4)).map(|_| element(random)).collect()
}
