//! `pgflow job clear`.

use clap::Args;
use pgflow_runtime::Db;
use pgflow_runtime::backend::{JobStanding, JobsOf};
use pgflow_runtime::job::{ConcernCleared, JobId, JobState, JobStatus};

use super::bulk::{BATCH, Bulk};
use crate::error::Error;

/// Which jobs.
#[derive(Args)]
#[command(after_help = "\
Examples:
  pgflow job clear inv-42              the reason why it ended its workers is gone
  pgflow job clear --all --dry-run     all jobs that wait for somebody to decide")]
pub(crate) struct Clear {
    #[command(flatten)]
    bulk: Bulk,
}

pub(super) async fn run(command: &Clear) -> Result<bool, Error> {
    let db = command.bulk.reach.open().await?;
    let jobs = command.bulk.chosen(&db, &[(JobsOf::Live, Some(JobState::Concern))]).await?;
    let refusal = |standing| {
        let cleared = match standing {
            JobStanding::Live(JobStatus::CrashConcern) => ConcernCleared::Cleared,
            JobStanding::Live(_) => ConcernCleared::NoConcern,
            JobStanding::Ended(_) => ConcernCleared::Unknown,
        };
        Some(said(cleared)).filter(|(_, is_well)| !is_well).map(|(said, _)| said)
    };
    command.bulk.apply("clear", &jobs, BATCH, refusal, async |jobs| clear(&db, jobs).await).await
}

/// What becomes of jobs, and whether that was meant.
pub(crate) async fn clear(db: &Db, jobs: &[JobId]) -> Result<Vec<(String, bool)>, Error> {
    Ok(db.clear_concern(jobs).await?.into_iter().map(said).collect())
}

fn said(cleared: ConcernCleared) -> (String, bool) {
    match cleared {
        ConcernCleared::Cleared => ("goes on".to_owned(), true),
        ConcernCleared::NoConcern => ("nothing is wrong with it".to_owned(), false),
        ConcernCleared::Unknown => ("is not live".to_owned(), false),
    }
}
