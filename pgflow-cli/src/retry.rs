//! `pgflow retry`.

use clap::Args;
use pgflow_runtime::backend::{Retried, RunSummary};
use pgflow_runtime::{Db, RunId, RunStatus};

use crate::bulk::{Became, Bulk};
use crate::error::Error;

/// Which runs.
#[derive(Args)]
#[command(after_help = "\
Examples:
  pgflow retry 019a3f
  pgflow retry --flow order --since 1d --where timeout --dry-run")]
pub(crate) struct Retry {
    #[command(flatten)]
    bulk: Bulk,
}

pub(crate) async fn run(command: &Retry) -> Result<bool, Error> {
    let (db, runs) = command.bulk.chosen(RunStatus::Failed).await?;
    let refusal = |run: &RunSummary| (run.status != RunStatus::Failed).then(|| refused(run.status));
    command.bulk.apply("retry", &runs, refusal, async |run| retry(&db, run).await).await
}

fn refused(status: RunStatus) -> Became {
    Became::other("not_failed", format!("has not failed: it is {status}"))
}

/// What becomes of a run.
pub(crate) async fn retry(db: &Db, run: RunId) -> Result<Became, Error> {
    Ok(match db.retry(run).await? {
        Retried::Retried => Became::meant("retried", "goes on"),
        Retried::NotFailed(status) => refused(status),
        Retried::Unknown => Became::gone(),
    })
}
