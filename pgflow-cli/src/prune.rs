//! `pgflow prune`.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use clap::Args;
use pgflow_runtime::{ClientError, Db};
use serde_json::json;

use crate::database::{Reach, parse_duration};
use crate::error::Error;
use crate::out;

/// Runs in one transaction: others do not wait long for it.
const BATCH: u32 = 100;
/// More are not counted before.
const COUNTED: u64 = 1_000_000;

/// What to delete.
#[derive(Args)]
#[command(after_help = "\
Examples:
  pgflow prune --older-than 30d --dry-run
  pgflow prune --older-than 30d")]
pub(crate) struct Prune {
    #[command(flatten)]
    reach: Reach,

    /// Delete runs and jobs that ended longer ago: `12h`, `30d`.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    older_than: Duration,

    /// Delete nothing, and print how many that would be.
    #[arg(long)]
    dry_run: bool,
}

pub(crate) async fn run(command: &Prune) -> Result<bool, Error> {
    let db = command.reach.open().await?;
    let all = db.prunable(command.older_than, COUNTED).await?;
    let runs = if command.dry_run { all } else { delete(&db, command.older_than, all).await? };
    let jobs = jobs(&db, command).await?;
    if command.reach.json {
        out::line(json!({ "runs": runs, "jobs": jobs, "dry_run": command.dry_run }))?;
    } else if command.dry_run {
        let (runs, jobs) = (counted(runs), counted(jobs));
        out::line(format_args!("{runs} runs and {jobs} jobs would be deleted"))?;
    } else {
        out::line(format_args!("{runs} runs and {jobs} jobs deleted"))?;
    }
    Ok(true)
}

/// How many jobs that is, or was.
async fn jobs(db: &Db, command: &Prune) -> Result<u64, Error> {
    if !db.has_jobs() {
        return Ok(0);
    }
    Ok(if command.dry_run {
        db.prunable_jobs(command.older_than, COUNTED).await?
    } else {
        db.prune_jobs(command.older_than).await?
    })
}

fn counted(many: u64) -> String {
    if many == COUNTED { format!("{many} or more") } else { many.to_string() }
}

/// Deletes a batch at a time, until there are no more.
async fn delete(db: &Db, older_than: Duration, all: u64) -> Result<u64, Error> {
    let mut deleted = 0;
    loop {
        let batch = db.backend().prune(older_than, BATCH).await.map_err(ClientError::from)?;
        deleted += batch;
        progress(deleted, all);
        if batch < u64::from(BATCH) {
            return Ok(deleted);
        }
    }
}

/// A bar, for somebody who looks.
fn progress(deleted: u64, all: u64) {
    if !std::io::stderr().is_terminal() {
        return;
    }
    let done = usize::try_from(deleted.min(all) * 40 / all.max(1)).unwrap_or(0);
    eprint!("\r[{}{}] {deleted} of {all}", "#".repeat(done), " ".repeat(40 - done));
    if deleted >= all {
        eprintln!();
    }
    let _ = std::io::stderr().flush();
}
