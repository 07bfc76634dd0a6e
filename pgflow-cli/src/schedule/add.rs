//! `pgflow schedule add`.

use clap::Args;
use pgflow_runtime::schedules::{Missed, Overlap, Put};
use serde_json::json;

use super::ls::shape;
use crate::database::{Reach, flat};
use crate::error::Error;
use crate::out;
use crate::start::{check, read};

/// What to make.
#[derive(Args)]
#[command(after_help = "\
Examples:
  pgflow schedule add nightly report '0 3 * * MON-FRI' --timezone Europe/Berlin
  pgflow schedule add pulse ping '*/10 * * * * *' --missed skip --overlap skip

Cron has five fields, or six with seconds first. The input is checked against the JSON Schema that the flow's
workers have noted. One that is paused stays so when it is replaced.")]
pub(crate) struct Add {
    /// Its name.
    name: String,

    /// The flow.
    flow: String,

    /// When: a cron expression.
    cron: String,

    /// What runs are given: JSON, `@file`, or `-` for standard input [default: null]
    input: Option<String>,

    #[command(flatten)]
    reach: Reach,

    /// The time zone in which the expression is meant.
    #[arg(long, value_name = "ZONE", default_value = "UTC")]
    timezone: String,

    /// Moments that nobody was there for: skip, last or all(N).
    #[arg(long, default_value = "last")]
    missed: Missed,

    /// Moments that come while a run goes on: allow, skip or queue.
    #[arg(long, default_value = "allow")]
    overlap: Overlap,
}

pub(super) async fn run(command: &Add) -> Result<bool, Error> {
    let input = read(command.input.as_deref())?;
    let db = command.reach.open().await?;
    let Some(definition) = db.definition(&command.flow).await? else {
        return Err(Error::Refused(format!("there is no flow `{}` in {db}", command.flow)));
    };
    if let Some(schema) = &definition.input_schema {
        check(schema, &input)?;
    }
    let schedule = db.schedule(&command.name);
    let create = schedule.flow_by_name(&definition.record.flow, input).cron(&command.cron);
    let create = create.timezone(&command.timezone).missed(command.missed);
    let put = create.overlap(command.overlap).await?;
    let said = match put {
        Put::Created => "created",
        Put::Replaced => "replaced",
        Put::Unchanged => "unchanged",
    };
    if command.reach.json {
        out::json(json!({ "outcome": said, "schedule": shape(&schedule.get().await?) }))?;
    } else {
        out::line(format!("schedule {} {said}", flat(&command.name)))?;
    }
    Ok(true)
}
