//! `pgflow job clear`.

use clap::Args;
use pgflow_runtime::Db;
use pgflow_runtime::backend::{JobStanding, JobsOf};
use pgflow_runtime::job::{ConcernCleared, JobId, JobState, JobStatus};

use super::bulk::{BATCH, Bulk};
use crate::bulk::Became;
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
    let of = [(JobsOf::Live, Some(JobState::Concern))];
    let db = command.bulk.open(&of).await?;
    let jobs = command.bulk.chosen(&db, &of).await?;
    let refusal = |standing| {
        let cleared = match standing {
            JobStanding::Live(JobStatus::CrashConcern) => ConcernCleared::Cleared,
            JobStanding::Live(_) => ConcernCleared::NoConcern,
            JobStanding::Ended(_) => ConcernCleared::Unknown,
        };
        became(cleared).refusal()
    };
    command.bulk.apply("clear", &jobs, BATCH, refusal, async |jobs| clear(&db, jobs).await).await
}

/// What becomes of jobs.
pub(crate) async fn clear(db: &Db, jobs: &[JobId]) -> Result<Vec<Became>, Error> {
    Ok(db.clear_concern(jobs).await?.into_iter().map(became).collect())
}

fn became(cleared: ConcernCleared) -> Became {
    match cleared {
        ConcernCleared::Cleared => Became::meant("cleared", "goes on"),
        ConcernCleared::NoConcern => Became::other("no_concern", "nothing is wrong with it"),
        ConcernCleared::Unknown => Became::other("not_live", "is not live"),
    }
}
