//! `pgflow why`.

use clap::Args;
use pgflow_runtime::RunStatus;
use pgflow_runtime::client::Reason;

use crate::database::{Reach, plain, run_of, shapes};
use crate::error::Error;
use crate::out;

/// Of which run.
#[derive(Args)]
#[command(after_help = "\
Example:
  pgflow why 019a3f

Ends with 1 if the run needs somebody: it failed, no worker serves its version, or a task keeps losing
its worker.")]
pub(crate) struct Why {
    /// The run's id, or the beginning of it.
    run: String,

    #[command(flatten)]
    reach: Reach,
}

pub(crate) async fn run(command: &Why) -> Result<bool, Error> {
    let db = command.reach.open().await?;
    let run = run_of(&db, &command.run).await?;
    let why = db.why(run).await?;
    if command.reach.json {
        out::line(shapes::why(&why))?;
    } else {
        out::line(plain(&why.to_string()))?;
    }
    Ok(!why.reasons.iter().any(needs_somebody))
}

fn needs_somebody(reason: &Reason) -> bool {
    match reason {
        Reason::Ended { status, .. } => *status == RunStatus::Failed,
        Reason::NoWorker { .. } | Reason::HeldBack { .. } | Reason::Crashes { .. } => true,
        _ => false,
    }
}
