//! `pgflow prune`.

use std::time::Duration;

use clap::Args;
use pgflow_runtime::{ClientError, Db};
use serde_json::json;

use crate::bulk::confirm;
use crate::database::{Reach, parse_duration};
use crate::error::Error;
use crate::interrupt::{is_wanted, patiently};
use crate::out;
use crate::progress::Progress;

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

    /// Do not ask before everything that has ended is deleted (`--older-than 0s`).
    #[arg(long, short)]
    yes: bool,
}

pub(crate) async fn run(command: &Prune) -> Result<bool, Error> {
    let db = command.reach.open().await?;
    if command.older_than.is_zero() && !command.dry_run && !command.yes {
        confirm("delete everything that has ended?").await?;
    }
    patiently();
    let mut done = Done::default();
    let ended = of_all(&db, command, &mut done).await;
    if ended.is_ok() || done.runs + done.jobs > 0 {
        done.print(command)?;
    }
    ended.map(|()| true)
}

/// How many were deleted, or would be. It is said also if something goes wrong after that.
#[derive(Default)]
struct Done {
    runs: u64,
    jobs: u64,
}

impl Done {
    fn print(&self, command: &Prune) -> Result<(), Error> {
        let Self { runs, jobs } = *self;
        if command.reach.json {
            out::json(json!({ "runs": runs, "jobs": jobs, "dry_run": command.dry_run }))
        } else if command.dry_run {
            let (runs, jobs) = (counted(runs), counted(jobs));
            out::line(format_args!("{runs} runs and {jobs} jobs would be deleted"))
        } else {
            out::line(format_args!("{runs} runs and {jobs} jobs deleted"))
        }
    }
}

async fn of_all(db: &Db, command: &Prune, done: &mut Done) -> Result<(), Error> {
    of_kind(db, command, Kind::Runs, &mut done.runs).await?;
    if db.has_jobs() {
        of_kind(db, command, Kind::Jobs, &mut done.jobs).await?;
    }
    Ok(())
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

/// Counts them, or deletes a batch at a time, until there are no more. A batch may be small because somebody holds some.
async fn of_kind(db: &Db, command: &Prune, kind: Kind, done: &mut u64) -> Result<(), Error> {
    if command.dry_run {
        *done = kind.count(db, command.older_than).await?;
        return Ok(());
    }
    // They are counted for somebody who looks only.
    let all =
        if Progress::is_shown() { Some(kind.count(db, command.older_than).await?) } else { None };
    let progress = Progress::new(kind.word(), all);
    loop {
        if is_wanted() {
            return Err(Error::Interrupted);
        }
        let batch = kind.delete(db, command.older_than).await?;
        *done += batch;
        progress.show(*done);
        if batch == 0 {
            return Ok(());
        }
    }
}

fn counted(many: u64) -> String {
    if many == COUNTED { format!("{many} or more") } else { many.to_string() }
}
