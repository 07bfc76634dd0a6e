//! `cargo pgflow show`.

use std::process::ExitCode;

use pgflow_build::{Comparison, FoundFlow};
use pgflow_model::step_line;
use serde_json::{Map, Value};

use crate::args::{Format, Options, Show};
use crate::error::Error;

/// Prints the flows of the source.
pub(crate) fn run(options: &Options, command: &Show) -> Result<ExitCode, Error> {
    let plan = options.migrations(None)?.plan()?;
    let is_wanted =
        |flow: &&FoundFlow| command.flow.as_ref().is_none_or(|slug| *slug == flow.shape.slug);
    let flows: Vec<_> = plan.flows.iter().filter(is_wanted).collect();
    if let (Some(slug), true) = (&command.flow, flows.is_empty()) {
        return Err(Error::NoFlow(slug.clone()));
    }
    if command.format == Format::Json {
        let shapes = flows.iter().map(|flow| (flow.shape.slug.clone(), flow.shape.to_json()));
        println!("{:#}", Value::Object(shapes.collect::<Map<_, _>>()));
        return Ok(ExitCode::SUCCESS);
    }
    for flow in flows {
        print!("{}", text(flow, command.format));
    }
    Ok(ExitCode::SUCCESS)
}

fn text(flow: &FoundFlow, format: Format) -> String {
    match format {
        Format::Mermaid => format!("%% {}\n{}", flow.shape.slug, flow.shape.to_mermaid()),
        Format::Dot => flow.shape.to_dot(),
        Format::Text | Format::Json => {
            let steps: Vec<_> = flow.shape.steps.iter().map(step_line).collect();
            let steps = steps.join(
                "
  ",
            );
            format!("{} ({}), {}\n  {steps}\n", flow.shape.slug, standing(flow), flow.place)
        }
    }
}

fn standing(flow: &FoundFlow) -> String {
    match &flow.comparison {
        Comparison::New => "no migration yet".to_owned(),
        Comparison::With { version, changes, .. } if changes.is_empty() => {
            format!("version {version}")
        }
        Comparison::With { version, .. } => format!("changed since version {version}"),
    }
}
