//! `pgflow why`.

use clap::Args;
use pgflow_runtime::client::{JobReason, Reason};
use pgflow_runtime::job::JobId;
use pgflow_runtime::{Db, RunId, RunStatus};

use crate::database::{Meant, Reach, meant, plain, shapes};
use crate::error::Error;
use crate::{job, out};

/// Of which run or job.
#[derive(Args)]
#[command(after_help = "\
Examples:
  pgflow why 019a3f                    a run
  pgflow why inv-42                    a job

Ends with 1 if it needs somebody: it failed, no worker serves it, it keeps losing its workers, or it
waits for itself.")]
pub(crate) struct Why {
    /// The id of a run or a job, or the beginning of it.
    #[arg(value_name = "RUN|JOB")]
    what: String,

    #[command(flatten)]
    reach: Reach,
}

pub(crate) async fn run(command: &Why) -> Result<bool, Error> {
    let db = command.reach.open().await?;
    match meant(&db, &command.what).await? {
        Meant::Run(run) => of_run(&db, run, command.reach.json).await,
        Meant::Job(job) => of_job(&db, &job, command.reach.json).await,
    }
}

async fn of_run(db: &Db, run: RunId, is_json: bool) -> Result<bool, Error> {
    let why = db.why(run).await?;
    if is_json {
        out::line(shapes::why(&why))?;
    } else {
        out::line(plain(&why.to_string()))?;
    }
    Ok(!why.reasons.iter().any(needs_somebody))
}

async fn of_job(db: &Db, job: &JobId, is_json: bool) -> Result<bool, Error> {
    let why = db.why_job(job).await?;
    if is_json {
        out::line(job::shapes::why(&why))?;
    } else {
        out::line(plain(&why.to_string()))?;
    }
    Ok(!why.reasons.iter().any(JobReason::needs_somebody))
}

fn needs_somebody(reason: &Reason) -> bool {
    match reason {
        Reason::Ended { status, .. } => *status == RunStatus::Failed,
        Reason::NoWorker { .. } | Reason::HeldBack { .. } | Reason::Crashes { .. } => true,
        Reason::Child { reason, .. } => needs_somebody(reason),
        _ => false,
    }
}
