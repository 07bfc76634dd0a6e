//! `pgflow show`, of a run or job, or of the flows of the source.

use pgflow_build::{Comparison, FoundFlow};
use pgflow_model::step_line;
use serde_json::{Map, Value};

use crate::args::{Format, Options, Show};
use crate::crates::Crate;
use crate::database::{Meant, meant};
use crate::error::Error;
use crate::{job, out, run as one_run};

/// Prints a run or a job.
pub(crate) async fn of(command: &Show) -> Result<bool, Error> {
    let db = command.reach.open().await?;
    match meant(&db, command.what.as_deref().unwrap_or_default()).await? {
        Meant::Run(run) => one_run::show(&db, run, &command.reach, &command.more).await,
        Meant::Job(job) => job::show(&db, &job, &command.reach, &command.more).await,
    }
}

/// Prints the flows of the source.
pub(crate) fn run(options: &Options, command: &Show) -> Result<bool, Error> {
    let mut flows = Vec::new();
    for one in crates(options, command)? {
        flows.extend(one.shown(one.migrations(None)?.plan()?).flows);
    }
    if let Some(slug) = &command.what {
        flows.retain(|flow| flow.shape.slug == *slug);
        if flows.is_empty() {
            return Err(Error::NoFlow(slug.clone()));
        }
    }
    if command.reach.json || command.format == Format::Json {
        let shapes = flows.iter().map(|flow| (flow.shape.slug.clone(), flow.shape.to_json()));
        out::line(format_args!("{:#}", Value::Object(shapes.collect::<Map<_, _>>())))?;
        return Ok(true);
    }
    for flow in &flows {
        out::text(text(flow, command.format))?;
    }
    Ok(true)
}

/// Somebody who is in no crate, and names something, may mean a job.
fn crates(options: &Options, command: &Show) -> Result<Vec<Crate>, Error> {
    options.crates().map_err(|error| match (error, &command.what) {
        (error @ Error::NoCrate(_), Some(what)) => Error::Refused(format!(
            "`{what}` is not the id of a run, and {error}\nhelp: `pgflow job show {what}` shows a job"
        )),
        (error, _) => error,
    })
}

fn text(flow: &FoundFlow, format: Format) -> String {
    match format {
        Format::Mermaid => format!("%% {}\n{}", flow.shape.slug, flow.shape.to_mermaid()),
        Format::Dot => flow.shape.to_dot(),
        Format::Text | Format::Json => {
            let steps: Vec<_> = flow.shape.steps.iter().map(step_line).collect();
            let steps = steps.join("\n  ");
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
