//! `pgflow dev`.

use clap::Args;
use pgflow_runtime::ClientError;
use pgflow_web::Options;

use crate::database::Reach;
use crate::error::Error;
use crate::interrupt::{interrupted, patiently};
use crate::serve::At;
use crate::tail::Tail;

/// One terminal for development.
#[derive(Args)]
#[command(after_help = "\
Example:
  pgflow dev --database sqlite:app.db

Installs or updates pgflow's schema, serves the dashboard with actions, and prints what happens, until
Ctrl-C.")]
pub(crate) struct Dev {
    #[command(flatten)]
    reach: Reach,

    #[command(flatten)]
    at: At,
}

pub(crate) async fn run(command: &Dev) -> Result<bool, Error> {
    let db = command.reach.connect_or_make().await?;
    db.migrate().await.map_err(ClientError::from)?;
    let server = command.at.bind(&db, command.reach.json, Options::new().actions(true)).await?;
    patiently();
    let tail = Tail::everything(command.reach.clone());
    tokio::select! {
        ended = server.run(interrupted()) => ended?,
        ended = tail.follow(&db) => ended?,
    }
    Ok(true)
}
