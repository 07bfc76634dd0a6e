//! `pgflow job cancel`.

use clap::Args;
use pgflow_runtime::Db;
use pgflow_runtime::backend::{JobStanding, JobsOf};
use pgflow_runtime::job::{JobCancelled, JobId, JobOutcome};

use super::bulk::Bulk;
use crate::bulk::Became;
use crate::error::Error;

/// Which jobs.
#[derive(Args)]
#[command(after_help = "\
Examples:
  pgflow job cancel inv-42 --reason 'not needed'
  pgflow job cancel --need invoice.ingest --status waiting --dry-run

A job that a worker has may still finish; otherwise it ends when its lease does.")]
pub(crate) struct Cancel {
    #[command(flatten)]
    bulk: Bulk,

    /// Why, for those who look later.
    #[arg(long, default_value = "by an operator")]
    reason: String,
}

pub(super) async fn run(command: &Cancel) -> Result<bool, Error> {
    let of = [(JobsOf::Live, None)];
    let db = command.bulk.open(&of).await?;
    let jobs = command.bulk.chosen(&db, &of).await?;
    let each = async |jobs: &[JobId]| {
        let mut outcomes = Vec::new();
        for job in jobs {
            outcomes.push(cancel(&db, job, &command.reason).await?);
        }
        Ok(outcomes)
    };
    let refusal = |standing| match standing {
        JobStanding::Ended(outcome) => Some(refused(outcome)),
        JobStanding::Live(_) => None,
    };
    command.bulk.apply("cancel", &jobs, 1, refusal, each).await
}

fn refused(outcome: JobOutcome) -> Became {
    Became::other("ended", format!("had ended before: it is {outcome}"))
}

/// What becomes of a job.
pub(crate) async fn cancel(db: &Db, job: &JobId, reason: &str) -> Result<Became, Error> {
    Ok(match db.job(job).cancel(reason).await? {
        JobCancelled::Cancelled => Became::meant("cancelled", "cancelled"),
        JobCancelled::Asked => {
            Became::meant("asked", "ends with its lease, unless it is done before")
        }
        JobCancelled::Ended(outcome) => refused(outcome),
        JobCancelled::Unknown => Became::gone(),
    })
}
