//! `pgflow graph`.

mod svg;

use std::collections::HashMap;
use std::fmt::Write as _;

use clap::{Args, ValueEnum};
use pgflow_model::FlowShape;
use pgflow_runtime::backend::{Definition, Parts};
use pgflow_runtime::{Db, StepStatus};
use serde_json::json;

use crate::database::{Reach, is_id, may_be_id, run_of};
use crate::error::Error;
use crate::out;

/// What to draw.
#[derive(Args)]
#[command(after_help = "\
Examples:
  pgflow graph order                           Mermaid, for Markdown
  pgflow graph 019a3f --format svg >run.svg    a run, with the states of its steps

What begins with a digit or has a hyphen is a run's id, or the beginning of one; so are four hexadecimal digits or more
that no flow is called. Other words are flows.")]
pub(crate) struct Graph {
    /// A flow, or the beginning of a run's id.
    #[arg(value_name = "FLOW|RUN")]
    what: String,

    #[command(flatten)]
    reach: Reach,

    /// How to draw it.
    #[arg(long, value_enum, default_value = "mermaid")]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For Markdown.
    Mermaid,
    /// For Graphviz.
    Dot,
    /// A picture.
    Svg,
}

/// Steps by slug with what they are; nothing for a flow.
type States = HashMap<String, StepStatus>;

pub(crate) async fn run(command: &Graph) -> Result<bool, Error> {
    let db = command.reach.open().await?;
    let (definition, states) = meant(&db, &command.what).await?;
    let shape = &definition.shape;
    if command.reach.json {
        out::json(
            json!({ "flow": definition.record.slug, "graph": shape.to_json(), "states": states }),
        )?;
        return Ok(true);
    }
    out::text(match command.format {
        Format::Mermaid => mermaid(shape, &states),
        Format::Dot => dot(shape, &states),
        Format::Svg => svg::draw(shape, &states),
    })?;
    Ok(true)
}

/// The flow of that name, or the one of the run.
async fn meant(db: &Db, what: &str) -> Result<(Definition, States), Error> {
    if is_id(what) {
        return of_run(db, what).await;
    }
    match db.definition(what).await? {
        Some(definition) => Ok((definition, States::new())),
        None if may_be_id(what) => match of_run(db, what).await {
            Err(Error::Refused(_)) => Err(no_flow(db, what)),
            found => found,
        },
        None => Err(no_flow(db, what)),
    }
}

fn no_flow(db: &Db, flow: &str) -> Error {
    Error::Refused(format!("there is no flow `{flow}` in {db}"))
}

async fn of_run(db: &Db, what: &str) -> Result<(Definition, States), Error> {
    let run = run_of(db, what).await?;
    let record = db.record(run, Parts::Steps).await?;
    let states = record.steps.into_iter().map(|step| (step.slug, step.status)).collect();
    let definition = db.definition(&record.flow).await?;
    Ok((definition.ok_or_else(|| no_flow(db, &record.flow))?, states))
}

/// The colours of a state: border and inside.
fn colours(status: StepStatus) -> (&'static str, &'static str) {
    match status {
        StepStatus::Created => ("#6b7280", "#f3f4f6"),
        StepStatus::Started => ("#1d4ed8", "#dbeafe"),
        StepStatus::Completed => ("#15803d", "#dcfce7"),
        StepStatus::Failed => ("#b91c1c", "#fee2e2"),
        StepStatus::Skipped => ("#a16207", "#fef9c3"),
    }
}

fn mermaid(shape: &FlowShape, states: &States) -> String {
    let mut text = shape.to_mermaid();
    if states.is_empty() {
        return text;
    }
    for status in StepStatus::ALL {
        let (border, inside) = colours(*status);
        let _ = writeln!(text, "    classDef {status} fill:{inside},stroke:{border}");
    }
    for step in &shape.steps {
        if let Some(status) = states.get(&step.slug) {
            let _ = writeln!(text, "    class {} {status}", pgflow_model::mermaid_id(&step.slug));
        }
    }
    text
}

/// Graphviz takes what is said of a node later in the text as well.
fn dot(shape: &FlowShape, states: &States) -> String {
    let mut text = shape.to_dot();
    let end = text.rfind('}').unwrap_or(text.len());
    let mut lines = String::new();
    for step in &shape.steps {
        if let Some(status) = states.get(&step.slug) {
            let (border, inside) = colours(*status);
            let _ = writeln!(
                lines,
                "    \"{}\" [style=filled, fillcolor=\"{inside}\", color=\"{border}\", class=\"{status}\"];",
                step.slug
            );
        }
    }
    text.insert_str(end, &lines);
    text
}

#[cfg(test)]
mod tests {
    use pgflow_model::StepShape;

    use super::*;

    fn example() -> (FlowShape, States) {
        let mut shape = FlowShape::new("f");
        shape.steps = vec![StepShape::new("end"), StepShape::new("b").after("end").map()];
        let states = [("end", StepStatus::Completed), ("b", StepStatus::Started)]
            .map(|(slug, status)| (slug.to_owned(), status));
        (shape, states.into())
    }

    #[test]
    fn states_are_drawn_in_every_format() {
        let (shape, states) = example();
        let drawing = mermaid(&shape, &states);
        assert!(
            drawing.contains("    class step-end completed\n    class b started\n"),
            "{drawing}"
        );
        let drawing = dot(&shape, &states);
        assert!(drawing.contains("\"b\" [style=filled, fillcolor=\"#dbeafe\""), "{drawing}");
        assert!(drawing.trim_end().ends_with('}'), "{drawing}");
        let drawing = svg::draw(&shape, &states);
        assert!(
            drawing.contains("fill=\"#dcfce7\"") && drawing.contains(">completed<"),
            "{drawing}"
        );
    }

    #[test]
    fn a_flow_has_no_states() {
        let (shape, _) = example();
        assert_eq!(mermaid(&shape, &States::new()), shape.to_mermaid());
        assert_eq!(dot(&shape, &States::new()), shape.to_dot());
    }
}
