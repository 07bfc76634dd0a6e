//! Random flows.

use pgflow_model::{FlowShape, OnSkip, Pattern, StepShape};
use serde_json::{Value, json};

use crate::numbers::Numbers;

pub(crate) fn flow(numbers: &mut Numbers) -> FlowShape {
    let mut flow = FlowShape::new("random");
    for at in 0..=numbers.below(8) {
        let step = step(&flow.steps, at, numbers);
        flow.steps.push(step);
    }
    flow
}

fn step(before: &[StepShape], at: usize, numbers: &mut Numbers) -> StepShape {
    let mut step = StepShape::new(format!("s{at}"));
    for dep in before {
        if numbers.once_in(3) {
            step = step.after(&dep.slug);
        }
    }
    if step.depends_on.len() < 2 && numbers.once_in(3) {
        step = step.map();
    }
    step.only_if = numbers.once_in(5).then(|| pattern(&step, numbers));
    step.unless = numbers.once_in(7).then(|| pattern(&step, numbers));
    step.when_unmet = OnSkip::ALL[numbers.below(3)];
    step.when_exhausted = OnSkip::ALL[numbers.below(3)];
    step
}

/// A condition on a dependency, or on the run's input.
fn pattern(step: &StepShape, numbers: &mut Numbers) -> Pattern {
    let value = match numbers.pick(&step.depends_on) {
        Some(dep) if numbers.once_in(2) => json!({ dep: 1 }),
        Some(dep) => json!({ dep: [1] }),
        None => json!({}),
    };
    Pattern::try_from(value).expect("an object")
}

/// Something that a step might output, or a run be given.
pub(crate) fn value(numbers: &mut Numbers) -> Value {
    match numbers.below(6) {
        0 => json!(1),
        1 => json!({}),
        2 => json!(null),
        _ => array(numbers),
    }
}

pub(crate) fn array(numbers: &mut Numbers) -> Value {
    Value::Array((0..numbers.below(4)).map(|element| json!(element)).collect())
}
