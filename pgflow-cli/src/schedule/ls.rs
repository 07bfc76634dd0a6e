//! `pgflow schedule ls`.

use clap::Args;
use pgflow_runtime::Db;
use pgflow_runtime::schedules::{Origin, Schedule};
use serde_json::{Value, json};

use crate::database::{Reach, Table, Times, flat, shapes};
use crate::error::Error;
use crate::out;

/// What to list.
#[derive(Args)]
#[command(after_help = "\
Examples:
  pgflow schedule ls
  pgflow schedule ls --flow report --json")]
pub(crate) struct Ls {
    #[command(flatten)]
    reach: Reach,

    /// Only those of this flow.
    #[arg(long)]
    flow: Option<String>,
}

pub(super) async fn run(command: &Ls) -> Result<bool, Error> {
    let db = command.reach.open().await?;
    let times = command.reach.times(&db).await?;
    list(&db, &command.reach, &times, command.flow.as_deref()).await?;
    Ok(true)
}

/// Prints schedules, of one flow or of all.
pub(crate) async fn list(
    db: &Db,
    reach: &Reach,
    times: &Times,
    flow: Option<&str>,
) -> Result<(), Error> {
    let mut schedules = db.schedules().await?;
    schedules.retain(|schedule| flow.is_none_or(|flow| schedule.spec.flow == flow));
    if reach.json {
        let schedules: Vec<_> = schedules.iter().map(shape).collect();
        return out::json(json!({ "schedules": schedules }));
    }
    let titles = ["schedule", "flow", "cron", "time zone", "status", "next", "last", ""];
    let mut table = Table::new(&titles);
    for schedule in &schedules {
        table.row(row(schedule, times));
    }
    out::text(table.text())
}

/// What it is, in a word.
fn status(schedule: &Schedule) -> &'static str {
    if schedule.paused_at.is_some() { "paused" } else { schedule.status.as_str() }
}

fn row(schedule: &Schedule, times: &Times) -> [String; 8] {
    let at = |moment: Option<_>| moment.map_or_else(String::new, |moment| times.at(moment));
    let is_paused = schedule.paused_at.is_some();
    [
        flat(&schedule.name),
        flat(&schedule.spec.flow),
        flat(&schedule.spec.cron),
        flat(&schedule.spec.zone),
        times.paint.status(status(schedule)),
        at(schedule.next_at.filter(|_| !is_paused)),
        at(schedule.last_at),
        schedule.error.as_deref().map(flat).unwrap_or_default(),
    ]
}

pub(super) fn shape(schedule: &Schedule) -> Value {
    let spec = &schedule.spec;
    json!({
        "name": schedule.name,
        "flow": spec.flow,
        "cron": spec.cron,
        "timezone": spec.zone,
        "missed": spec.missed.to_string(),
        "overlap": spec.overlap.to_string(),
        "input": spec.input,
        "is_declared": spec.origin == Origin::Source,
        "status": status(schedule),
        "next_at": shapes::moment(schedule.next_at),
        "last_at": shapes::moment(schedule.last_at),
        "last_run": schedule.last_run,
        "queued": schedule.queued.len(),
        "error": schedule.error,
    })
}
