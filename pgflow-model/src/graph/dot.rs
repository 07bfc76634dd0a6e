//! A flow as Graphviz text.

use std::fmt::Write as _;

use super::{RUN, details, edges, run_label, step_lines};
use crate::{FlowShape, StepKind, StepShape};

impl FlowShape {
    /// The graph in Graphviz' DOT language; `dot -Tsvg` shows policies and options on hover.
    ///
    /// Map steps have a double border; a dashed arrow leaves a step that may be skipped.
    ///
    /// ```
    /// use pgflow_model::{FlowShape, StepShape};
    ///
    /// let mut flow = FlowShape::new("orders");
    /// flow.steps.push(StepShape::new("fetch"));
    /// assert!(flow.to_dot().starts_with("digraph \"orders\" {"));
    /// ```
    pub fn to_dot(&self) -> String {
        let mut text = format!("digraph {} {{\n    node [shape=box];\n", quoted(&self.slug));
        let run = quoted(&run_label(self));
        let _ = writeln!(text, "    {} [label={run}, shape=oval];", quoted(RUN));
        for step in &self.steps {
            let _ = writeln!(text, "    {}", node(step));
        }
        for edge in edges(self) {
            let style = if edge.is_optional { " [style=dashed]" } else { "" };
            let _ = writeln!(text, "    {} -> {}{style};", quoted(edge.from), quoted(edge.to));
        }
        text + "}\n"
    }
}

fn node(step: &StepShape) -> String {
    let label = quoted(&step_lines(step).join("\n"));
    let hover = quoted(&details(step).join("\n"));
    let border = match step.kind {
        StepKind::Single => "",
        StepKind::Map => ", peripheries=2",
    };
    format!("{} [label={label}, tooltip={hover}{border}];", quoted(&step.slug))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;

    #[test]
    fn draws_kinds_conditions_types_and_policies() {
        let expected = r#"digraph "orders" {
    node [shape=box];
    "run" [label="run: Vec<Order>", shape=oval];
    "check" [label="check: Vec<Option<\"a\\b\">>\none task per element", tooltip="check: Vec<Option<\"a\\b\">>\nwhen_exhausted = fail\ntimeout = 30", peripheries=2];
    "end" [label="end: Report\nonly if {\"check\":[1]}\nunless {\"check\":[\"<no>\"]}", tooltip="end: Report\nwhen_unmet = skip\nwhen_exhausted = fail"];
    "tell" [label="tell", tooltip="tell\nwhen_exhausted = skip_cascade"];
    "run" -> "check";
    "check" -> "end";
    "check" -> "tell";
    "end" -> "tell" [style=dashed];
}
"#;
        assert_eq!(example().to_dot(), expected);
    }
}
