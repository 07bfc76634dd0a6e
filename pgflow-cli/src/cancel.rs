//! `pgflow cancel`.

use clap::Args;
use pgflow_runtime::backend::{Cancelled, RunSummary};
use pgflow_runtime::{Db, RunId, RunStatus};

use crate::bulk::{Became, Bulk};
use crate::error::Error;

/// Which runs.
#[derive(Args)]
#[command(after_help = "\
Examples:
  pgflow cancel 019a3f --reason 'not needed'
  pgflow cancel --flow order --status started --yes")]
pub(crate) struct Cancel {
    #[command(flatten)]
    bulk: Bulk,

    /// Why, for those who look later.
    #[arg(long)]
    reason: Option<String>,
}

pub(crate) async fn run(command: &Cancel) -> Result<bool, Error> {
    let (db, runs) = command.bulk.chosen(RunStatus::Started).await?;
    let reason = command.reason.as_deref();
    let refusal = |run: &RunSummary| run.status.has_ended().then(|| refused(run.status));
    command.bulk.apply("cancel", &runs, refusal, async |run| cancel(&db, run, reason).await).await
}

fn refused(status: RunStatus) -> Became {
    Became::other("ended", format!("had ended before: it is {status}"))
}

/// What becomes of a run.
pub(crate) async fn cancel(db: &Db, run: RunId, reason: Option<&str>) -> Result<Became, Error> {
    Ok(match db.cancel(run, reason).await? {
        Cancelled::Cancelled => Became::meant("cancelled", "cancelled"),
        Cancelled::Ended(status) => refused(status),
        Cancelled::Unknown => Became::gone(),
    })
}
