//! `pgflow show JOB`.

use std::fmt::Write as _;

use clap::Args;
use pgflow_runtime::Db;
use pgflow_runtime::backend::{JobEvent, JobRecord};
use pgflow_runtime::client::JobWhy;
use pgflow_runtime::job::JobId;

use super::{job_of, shapes};
use crate::args::More;
use crate::database::{Reach, Times, flat, folded, plain};
use crate::error::Error;
use crate::out;

/// Which job.
#[derive(Args)]
#[command(after_help = "\
Example:
  pgflow job show inv-42 --events      with all that happened to it")]
pub(crate) struct Show {
    /// The job's name, or the beginning of it.
    job: String,

    #[command(flatten)]
    reach: Reach,

    #[command(flatten)]
    more: More,
}

pub(super) async fn run(command: &Show) -> Result<bool, Error> {
    let db = command.reach.open().await?;
    let id = job_of(&db, &command.job).await?.id;
    show(&db, &id, &command.reach, &command.more).await
}

/// Prints a job.
pub(crate) async fn show(db: &Db, id: &JobId, reach: &Reach, more: &More) -> Result<bool, Error> {
    let (record, why) = (db.job(id).record().await?, db.why_job(id).await?);
    let events = if more.events { db.job(id).trace().await? } else { Vec::new() };
    if reach.json {
        let mut json = shapes::record(&record, &why, reach.moments(why.now));
        if more.input {
            json["input"] = record.payload;
        }
        if more.output {
            json["output"] = record.output.unwrap_or_default();
        }
        if more.events {
            json["events"] = events.iter().map(shapes::event).collect();
        }
        out::json(json)?;
        return Ok(true);
    }
    let times = reach.times(db).await?;
    out::text(text(&record, &why, &times))?;
    let input = more.input.then_some(&record.payload);
    let output = record.output.as_ref().filter(|_| more.output);
    for (name, value) in [("input", input), ("output", output)] {
        if let Some(value) = value {
            out::line(format_args!("{name}: {}", plain(&format!("{value:#}"))))?;
        }
    }
    for event in &events {
        out::line(line(event, &times))?;
    }
    Ok(true)
}

fn text(record: &JobRecord, why: &JobWhy, times: &Times) -> String {
    let (job, row) = (&record.summary, &record.summary.row);
    let mut text = format!(
        "{} {}  {}  submitted {}\n",
        times.paint.bold(&flat(&row.need)),
        flat(job.id.as_str()),
        times.paint.status(&job.standing.to_string()),
        times.at(row.created_at),
    );
    let budget = row.max_attempts.map(|max| format!(" of {max}")).unwrap_or_default();
    let _ = writeln!(
        text,
        "  {} attempts{budget}, {} failed, {} lost  priority {}",
        row.attempts, row.failures, row.lapses, row.priority
    );
    if let Some(key) = &row.key {
        let _ = writeln!(text, "  key {}", flat(key));
    }
    if let Some(at) = row.expires_at {
        let _ = writeln!(text, "  expires {}", times.at(at));
    }
    if let Some(error) = job.error.as_ref().filter(|_| job.ended_at.is_none()) {
        let _ = writeln!(text, "  last error: {}", folded(error));
    }
    for reason in &why.reasons {
        let _ = writeln!(
            text,
            "  {}",
            times.paint.dim(&folded(&reason.sentence(times.moments(why.now))))
        );
    }
    text
}

/// A line of the trace.
fn line(event: &JobEvent, times: &Times) -> String {
    let mut line = format!("{:>4}  {}  {}", event.number, times.at(event.at), event.kind);
    if let Some(by) = &event.by {
        let _ = write!(line, "  by {}", flat(by));
    }
    if let Some(detail) = &event.detail {
        let _ = write!(line, "  {}", flat(&detail.to_string()));
    }
    line
}
