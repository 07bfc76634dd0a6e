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

    /// Delete runs that ended longer ago: `12h`, `30d`.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    older_than: Duration,

    /// Delete nothing, and print how many runs that would be.
    #[arg(long)]
    dry_run: bool,
}

pub(crate) async fn run(command: &Prune) -> Result<bool, Error> {
    let db = command.reach.open().await?;
    let all = db.prunable(command.older_than, COUNTED).await?;
    let deleted = if command.dry_run { 0 } else { delete(&db, command.older_than, all).await? };
    if command.reach.json {
        out::line(
            json!({ "runs": if command.dry_run { all } else { deleted }, "dry_run": command.dry_run }),
        )?;
    } else if command.dry_run {
        let more = if all == COUNTED { " or more" } else { "" };
        out::line(format_args!("{all}{more} runs would be deleted"))?;
    } else {
        out::line(format_args!("{deleted} runs deleted"))?;
    }
    Ok(true)
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
