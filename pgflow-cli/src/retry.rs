//! `pgflow retry`.

use clap::Args;
use pgflow_runtime::backend::{Retried, RunSummary};
use pgflow_runtime::{Db, RunId, RunStatus};

use crate::bulk::Bulk;
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
    let db = command.bulk.reach.open().await?;
    let runs = command.bulk.chosen(&db, &[RunStatus::Failed]).await?;
    let refusal = |run: &RunSummary| (run.status != RunStatus::Failed).then(|| refused(run.status));
    command.bulk.apply("retry", &runs, refusal, async |run| retry(&db, run).await).await
}

fn refused(status: RunStatus) -> String {
    format!("has not failed: it is {status}")
}

/// What becomes of a run, and whether that was meant.
pub(crate) async fn retry(db: &Db, run: RunId) -> Result<(String, bool), Error> {
    Ok(match db.retry(run).await? {
        Retried::Retried => ("goes on".to_owned(), true),
        Retried::NotFailed(status) => (refused(status), false),
        Retried::Unknown => ("is gone".to_owned(), false),
    })
}
