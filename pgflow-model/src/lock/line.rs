//! A flow or a step as one line.

use std::fmt::Write;

use crate::{FlowShape, OnSkip, StepKind, StepOptions, StepShape};

/// `orders v2 max_attempts=3 : Order`.
pub(super) fn flow_line(shape: &FlowShape, version: u32) -> String {
    let mut line = format!("flow {} v{version}", shape.slug);
    if shape.format != 1 {
        let _ = write!(line, " format={}", shape.format);
    }
    push_options(&mut line, shape.options);
    push_type(&mut line, shape.input_type.as_ref());
    line
}

/// A step as `pgflow.lock` has it: name, dependencies and everything that is not the default.
///
/// ```
/// let step = pgflow_model::StepShape::new("ship").map().after("pay");
/// assert_eq!(pgflow_model::step_line(&step), "ship map <- pay");
/// ```
pub fn step_line(step: &StepShape) -> String {
    let mut line = step.slug.clone();
    if step.kind == StepKind::Map {
        line += " map";
    }
    if !step.depends_on.is_empty() {
        let _ = write!(line, " <- {}", step.depends_on.join(", "));
    }
    push_options(&mut line, step.options);
    for (name, mode, default) in [
        ("when_unmet", step.when_unmet, OnSkip::Skip),
        ("when_exhausted", step.when_exhausted, OnSkip::Fail),
    ] {
        if mode != default {
            let _ = write!(line, " {name}={}", mode.keyword());
        }
    }
    for (name, pattern) in [("only_if", &step.only_if), ("unless", &step.unless)] {
        if let Some(pattern) = pattern {
            let _ = write!(line, " {name}={pattern}");
        }
    }
    if let Some(was) = &step.was {
        let _ = write!(line, " was={was}");
    }
    push_type(&mut line, step.output_type.as_ref());
    line
}

fn push_options(line: &mut String, options: StepOptions) {
    for (name, value) in options.set() {
        let _ = write!(line, " {name}={value}");
    }
}

/// Last, because a type may hold anything.
fn push_type(line: &mut String, ty: Option<&String>) {
    if let Some(ty) = ty {
        let _ = write!(line, " : {ty}");
    }
}
