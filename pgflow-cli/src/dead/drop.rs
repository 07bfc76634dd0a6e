//! `pgflow dead drop`.

use std::collections::HashMap;

use clap::Args;
use pgflow_runtime::backend::JobStanding;
use pgflow_runtime::job::JobId;
use pgflow_runtime::{ClientError, Db};

use crate::bulk::Became;
use crate::error::Error;
use crate::job::{BATCH, Bulk, DEAD};

/// Which of them.
#[derive(Args)]
#[command(after_help = "\
Examples:
  pgflow dead drop doc-7
  pgflow dead drop --need docs --where 'no such customer' --dry-run

What is dropped is gone, with its payload and its history, and its name may be used again.")]
pub(crate) struct Drop {
    #[command(flatten)]
    bulk: Bulk,
}

pub(super) async fn run(command: &Drop) -> Result<bool, Error> {
    let db = command.bulk.open(&DEAD).await?;
    // A database that cannot do it says so before it is asked which.
    db.backend().pipelines().map_err(ClientError::from)?;
    let jobs = command.bulk.chosen(&db, &DEAD).await?;
    let refusal = |standing| match standing {
        JobStanding::Ended(outcome) if outcome.is_dead() => None,
        standing => Some(refused(standing)),
    };
    command.bulk.apply("drop", &jobs, BATCH, refusal, async |jobs| drop_all(&db, jobs).await).await
}

fn refused(standing: JobStanding) -> Became {
    Became::other("not_dead", format!("is not dead: it is {standing}"))
}

/// What becomes of jobs.
async fn drop_all(db: &Db, ids: &[JobId]) -> Result<Vec<Became>, Error> {
    db.drop_dead(ids).await?;
    let jobs = db.backend().jobs().map_err(ClientError::from)?;
    let left = jobs.job_standings(ids).await.map_err(ClientError::from)?;
    let left: HashMap<_, _> = left.into_iter().collect();
    let became = |id: &JobId| match left.get(id) {
        None => Became::meant("dropped", "is dropped"),
        Some(standing) => refused(*standing),
    };
    Ok(ids.iter().map(became).collect())
}
