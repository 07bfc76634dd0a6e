//! `pgflow why`.

use clap::Args;
use pgflow_runtime::client::{JobReason, Reason};
use pgflow_runtime::job::JobId;
use pgflow_runtime::{Db, RunId};

use crate::database::{Meant, Reach, folded, meant, shapes};
use crate::error::Error;
use crate::{job, out};

/// Of which run or job.
#[derive(Args)]
#[command(after_help = "\
Examples:
  pgflow why 019a3f                    a run
  pgflow why inv-42                    a job

Ends with 1 if it needs somebody: it failed, no worker serves it or can read what it works on, it keeps
losing its workers, it waits for itself, or for a rate of 0 or a resource that is too small.")]
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
        Meant::Run(run) => of_run(&db, run, &command.reach).await,
        Meant::Job(job) => of_job(&db, &job, &command.reach).await,
    }
}

async fn of_run(db: &Db, run: RunId, reach: &Reach) -> Result<bool, Error> {
    let why = db.why(run).await?;
    let moments = reach.moments(why.now);
    if reach.json {
        out::json(shapes::why(&why, moments))?;
    } else {
        out::line(folded(&why.text(moments)))?;
    }
    Ok(!why.reasons.iter().any(Reason::needs_somebody))
}

async fn of_job(db: &Db, job: &JobId, reach: &Reach) -> Result<bool, Error> {
    let why = db.why_job(job).await?;
    let moments = reach.moments(why.now);
    if reach.json {
        out::json(job::shapes::why(&why, moments))?;
    } else {
        out::line(folded(&why.text(moments)))?;
    }
    Ok(!why.reasons.iter().any(JobReason::needs_somebody))
}
