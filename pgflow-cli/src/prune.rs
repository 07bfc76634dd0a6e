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
    let runs = of_kind(&db, command, Kind::Runs).await?;
    let jobs = if db.has_jobs() { of_kind(&db, command, Kind::Jobs).await? } else { 0 };
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

/// What is deleted.
#[derive(Clone, Copy)]
enum Kind {
    Runs,
    Jobs,
}

impl Kind {
    async fn count(self, db: &Db, older_than: Duration) -> Result<u64, ClientError> {
        match self {
            Self::Runs => db.prunable(older_than, COUNTED).await,
            Self::Jobs => db.prunable_jobs(older_than, COUNTED).await,
        }
    }

    async fn delete(self, db: &Db, older_than: Duration) -> Result<u64, ClientError> {
        Ok(match self {
            Self::Runs => db.backend().prune(older_than, BATCH).await?,
            Self::Jobs => db.backend().jobs()?.prune_jobs(older_than, BATCH).await?,
        })
    }

    fn word(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Jobs => "jobs",
        }
    }
}

/// How many that is, or was: deletes a batch at a time, until there are no more. A batch may be small because somebody holds some.
async fn of_kind(db: &Db, command: &Prune, kind: Kind) -> Result<u64, Error> {
    let all = kind.count(db, command.older_than).await?;
    if command.dry_run {
        return Ok(all);
    }
    let mut deleted = 0;
    loop {
        let batch = kind.delete(db, command.older_than).await?;
        deleted += batch;
        progress(kind, deleted, all);
        if batch == 0 {
            return Ok(deleted);
        }
    }
}

fn counted(many: u64) -> String {
    if many == COUNTED { format!("{many} or more") } else { many.to_string() }
}

/// A bar, for somebody who looks.
fn progress(kind: Kind, deleted: u64, all: u64) {
    if all == 0 || !std::io::stderr().is_terminal() {
        return;
    }
    let done = usize::try_from(deleted.min(all) * 40 / all.max(1)).unwrap_or(0);
    eprint!("\r[{}{}] {deleted} of {all} {}", "#".repeat(done), " ".repeat(40 - done), kind.word());
    if deleted >= all {
        eprintln!();
    }
    let _ = std::io::stderr().flush();
}
