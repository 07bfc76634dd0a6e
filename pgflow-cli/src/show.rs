//! `pgflow show`, of a run or job, or of the flows of the source.

use pgflow_build::{Comparison, FoundFlow};
use pgflow_model::step_line;
use serde_json::{Map, Value};

use crate::args::{Format, Options, Show};
use crate::database::{Meant, block_on, is_id, may_be_id, meant};
use crate::error::Error;
use crate::{job, out, run as one_run, shell};

pub(crate) fn run(options: &Options, command: &Show) -> Result<bool, Error> {
    let Some(what) = &command.what else { return of_source(options, command) };
    if is_id(what) {
        return block_on(of_database(command, what));
    }
    match of_source(options, command) {
        // The source may be broken here: what is asked for may be elsewhere.
        Err(error) if may_be_id(what) => match block_on(of_database(command, what)) {
            Err(other) if is_less(&other, &error) => Err(explained(error, what)),
            shown => shown,
        },
        shown => shown.map_err(|error| explained(error, what)),
    }
}

/// Whether what a database said of a word tells less than what the source did: there is no such thing, or no database that could
/// be asked beside a source that could not be read.
fn is_less(database: &Error, source: &Error) -> bool {
    matches!(database, Error::Refused(_)) || (!source.is_no_source() && database.exit_code() != 1)
}

/// Who names something that the source has not may mean what is in the database.
fn explained(error: Error, what: &str) -> Error {
    if !error.is_no_source() {
        return error;
    }
    let name = shell::argument(what);
    Error::Refused(format!(
        "`{what}` is not the id of a run, and {error}\nhelp: `pgflow job show {name}` shows a job, `pgflow graph {name}` \
         a flow of the database"
    ))
}

/// Prints a run or a job.
async fn of_database(command: &Show, what: &str) -> Result<bool, Error> {
    let db = command.reach.open().await?;
    match meant(&db, what).await? {
        Meant::Run(run) => one_run::show(&db, run, &command.reach, &command.more).await,
        Meant::Job(job) => job::show(&db, &job, &command.reach, &command.more).await,
    }
}

/// Prints the flows of the source.
fn of_source(options: &Options, command: &Show) -> Result<bool, Error> {
    let mut flows = Vec::new();
    for one in options.crates()? {
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
        out::json(format_args!("{:#}", Value::Object(shapes.collect::<Map<_, _>>())))?;
        return Ok(true);
    }
    for flow in &flows {
        out::text(text(flow, command.format))?;
    }
    Ok(true)
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
