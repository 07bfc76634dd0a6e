//! `pgflow job redrive`.

use std::time::Duration;

use clap::Args;
use pgflow_runtime::Db;
use pgflow_runtime::backend::{JobStanding, JobsOf};
use pgflow_runtime::job::{JobId, JobOutcome, Redriven};

use super::bulk::{BATCH, Bulk};
use super::ls::Which;
use crate::bulk::Became;
use crate::database::parse_duration;
use crate::error::Error;

/// Which jobs.
#[derive(Args)]
#[command(after_help = "\
Examples:
  pgflow job redrive inv-42
  pgflow job redrive --need invoice.ingest --where timeout --spacing 1s --dry-run

Jobs get a fresh number of attempts, and keep their place in line and their history.")]
pub(crate) struct Redrive {
    #[command(flatten)]
    bulk: Bulk,

    /// Each so much later than the one before.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    spacing: Option<Duration>,
}

/// Jobs that are dead.
pub(crate) const DEAD: [Which; 2] =
    [(JobsOf::EndedAs(JobOutcome::Failed), None), (JobsOf::EndedAs(JobOutcome::Crashed), None)];

pub(crate) async fn run(command: &Redrive) -> Result<bool, Error> {
    let db = command.bulk.open(&DEAD).await?;
    let mut jobs = command.bulk.chosen(&db, &DEAD).await?;
    // Who failed first goes first.
    jobs.sort_by_key(|job| (job.ended_at, job.row.seq));
    let spacing = command.spacing.unwrap_or_default();
    // The moments of one call are told from its first.
    let at_once = if spacing.is_zero() { BATCH } else { jobs.len() };
    let all = async |jobs: &[JobId]| redrive(&db, jobs, spacing).await;
    let refusal = |standing| {
        let redriven = match standing {
            JobStanding::Live(_) => Redriven::Live,
            JobStanding::Ended(outcome) if outcome.is_dead() => Redriven::Redriven,
            JobStanding::Ended(outcome) => Redriven::Ended(outcome),
        };
        became(redriven).refusal()
    };
    command.bulk.apply("redrive", &jobs, at_once, refusal, all).await
}

/// What becomes of jobs.
pub(crate) async fn redrive(
    db: &Db,
    jobs: &[JobId],
    spacing: Duration,
) -> Result<Vec<Became>, Error> {
    Ok(db.redrive(jobs, spacing).await?.into_iter().map(became).collect())
}

fn became(redriven: Redriven) -> Became {
    match redriven {
        Redriven::Redriven => Became::meant("redriven", "goes on"),
        Redriven::Ended(outcome) => {
            Became::other("not_failed", format!("has not failed: it is {outcome}"))
        }
        Redriven::Live => Became::other("not_ended", "has not ended"),
        Redriven::Unknown => Became::gone(),
    }
}
