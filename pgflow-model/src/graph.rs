//! What a drawing of a flow shows, whatever draws it.

mod dot;
mod mermaid;

use std::collections::HashMap;

pub use mermaid::mermaid_id;

use crate::{FlowShape, StepKind, StepShape};

/// The run's input. No step can be called that.
const RUN: &str = "run";

/// An arrow of the drawing.
struct Edge<'a> {
    from: &'a str,
    to: &'a str,
    /// Whether `to` may run without an output of `from`.
    is_optional: bool,
}

/// Arrows from the run's input to the roots, and from each step to its dependents.
fn edges(flow: &FlowShape) -> Vec<Edge<'_>> {
    let optional: HashMap<&str, bool> =
        flow.steps.iter().map(|step| (&*step.slug, step.presence().may_be_missing)).collect();
    let mut edges = Vec::new();
    for step in &flow.steps {
        if step.depends_on.is_empty() {
            edges.push(Edge { from: RUN, to: &step.slug, is_optional: false });
        }
        edges.extend(step.depends_on.iter().map(|dep| Edge {
            from: dep,
            to: &step.slug,
            is_optional: optional.get(&**dep).copied().unwrap_or(false),
        }));
    }
    edges
}

/// The run's input, with its type.
fn run_label(flow: &FlowShape) -> String {
    flow.input_type.as_ref().map_or_else(|| RUN.to_owned(), |ty| format!("{RUN}: {ty}"))
}

/// The lines in a step's box: its name and type, its kind, its conditions.
fn step_lines(step: &StepShape) -> Vec<String> {
    let mut lines = vec![typed(step)];
    if step.kind == StepKind::Map {
        lines.push("one task per element".to_owned());
    }
    if let Some(pattern) = &step.only_if {
        lines.push(format!("only if {pattern}"));
    }
    if let Some(pattern) = &step.unless {
        lines.push(format!("unless {pattern}"));
    }
    lines
}

fn typed(step: &StepShape) -> String {
    match (&step.output_type, step.kind) {
        (None, _) => step.slug.clone(),
        (Some(ty), StepKind::Single) => format!("{}: {ty}", step.slug),
        (Some(ty), StepKind::Map) => format!("{}: Vec<{ty}>", step.slug),
    }
}

/// What is shown on hover: policies and options that are not the default.
fn details(step: &StepShape) -> Vec<String> {
    let mut lines = vec![typed(step)];
    if step.has_condition() {
        lines.push(format!("when_unmet = {}", step.when_unmet.keyword()));
    }
    lines.push(format!("when_exhausted = {}", step.when_exhausted.keyword()));
    lines.extend(step.options.set().map(|(name, value)| format!("{name} = {value}")));
    lines
}

#[cfg(test)]
mod tests {
    use crate::{FlowShape, OnSkip, StepShape};

    pub(super) fn example() -> FlowShape {
        let mut flow = FlowShape::new("orders");
        flow.input_type = Some("Vec<Order>".to_owned());
        let mut check = StepShape::new("check").map();
        check.output_type = Some("Option<\"a\\b\">".to_owned());
        check.options.timeout = Some(30);
        let mut end = StepShape::new("end").after("check");
        end.only_if = Some(r#"{"check":[1]}"#.parse().expect("a pattern"));
        end.unless = Some(r#"{"check":["<no>"]}"#.parse().expect("a pattern"));
        end.output_type = Some("Report".to_owned());
        let mut tell = StepShape::new("tell").after("check").after("end");
        tell.when_exhausted = OnSkip::SkipCascade;
        flow.steps = vec![check, end, tell];
        flow
    }
}
