//! A flow as Mermaid text.

use std::fmt::Write as _;

use super::{RUN, details, edges, run_label, step_lines};
use crate::{FlowShape, StepKind, StepShape};

impl FlowShape {
    /// The graph as a Mermaid flowchart, which GitHub and others draw from Markdown.
    ///
    /// Map steps have double sides; a dotted arrow leaves a step that may be skipped. Policies and
    /// options show on hover.
    ///
    /// ```
    /// use pgflow_model::{FlowShape, StepShape};
    ///
    /// let mut flow = FlowShape::new("orders");
    /// flow.steps.push(StepShape::new("fetch"));
    /// assert!(flow.to_mermaid().starts_with("flowchart TD\n"));
    /// ```
    pub fn to_mermaid(&self) -> String {
        let mut text = String::from("flowchart TD\n");
        let _ = writeln!(text, "    {RUN}([\"{}\"])", escape(&run_label(self)));
        for step in &self.steps {
            let _ = writeln!(text, "    {}", node(step));
        }
        for edge in edges(self) {
            let arrow = if edge.is_optional { "-.->" } else { "-->" };
            let _ = writeln!(text, "    {} {arrow} {}", mermaid_id(edge.from), mermaid_id(edge.to));
        }
        for step in &self.steps {
            let hover = escape(&details(step).join("; "));
            let _ =
                writeln!(text, "    click {0} href \"#{0}\" \"{hover}\"", mermaid_id(&step.slug));
        }
        text
    }
}

fn node(step: &StepShape) -> String {
    let lines: Vec<_> = step_lines(step).iter().map(|line| escape(line)).collect();
    let (id, label) = (mermaid_id(&step.slug), lines.join("<br/>"));
    match step.kind {
        StepKind::Single => format!("{id}[\"{label}\"]"),
        StepKind::Map => format!("{id}[[\"{label}\"]]"),
    }
}

/// A step's name in the text of [`FlowShape::to_mermaid`]. Some words cannot be used there; no slug holds a hyphen.
///
/// ```
/// assert_eq!(pgflow_model::mermaid_id("fetch"), "fetch");
/// assert_eq!(pgflow_model::mermaid_id("end"), "step-end");
/// ```
pub fn mermaid_id(slug: &str) -> String {
    const TAKEN: [&str; 10] = [
        "call",
        "class",
        "classDef",
        "click",
        "default",
        "end",
        "flowchart",
        "graph",
        "style",
        "subgraph",
    ];
    if TAKEN.contains(&slug) { format!("step-{slug}") } else { slug.to_owned() }
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("#quot;"),
            '#' => out.push_str("#35;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;

    #[test]
    fn draws_kinds_conditions_types_and_policies() {
        let expected = r##"flowchart TD
    run(["run: Vec#lt;Order#gt;"])
    check[["check: Vec#lt;Option#lt;#quot;a\b#quot;#gt;#gt;<br/>one task per element"]]
    step-end["end: Report<br/>only if {#quot;check#quot;:[1]}<br/>unless {#quot;check#quot;:[#quot;#lt;no#gt;#quot;]}"]
    tell["tell"]
    run --> check
    check --> step-end
    check --> tell
    step-end -.-> tell
    click check href "#check" "check: Vec#lt;Option#lt;#quot;a\b#quot;#gt;#gt;; when_exhausted = fail; timeout = 30"
    click step-end href "#step-end" "end: Report; when_unmet = skip; when_exhausted = fail"
    click tell href "#tell" "tell; when_exhausted = skip_cascade"
"##;
        assert_eq!(example().to_mermaid(), expected);
    }
}
