//! Starting runs in transactions of the application's.

use std::sync::Arc;

use pgflow_machine::{Limits, Timestamp};
use sqlx::SqliteConnection;

use super::clock;
use super::definitions::to_start;
use super::error::Result;
use super::session::SqliteSession;
use crate::backend::{NewRun, Reply, Started};
use crate::start_in::{StartIn, check_transaction};
use crate::store::start_in;

#[diagnostic::do_not_recommend]
impl StartIn for SqliteConnection {
    /// Begin the transaction with `BEGIN IMMEDIATE`: one that has read before it writes can't get the write
    /// lock while others write, and fails at once.
    fn start_run(&mut self, run: NewRun) -> Reply<'_, Started> {
        Box::pin(async move {
            check_transaction(self)?;
            let mut session = session(self, &run).await?;
            start_in(&mut session, run, Limits::default()).await
        })
    }
}

/// The open transaction, with what is needed to start this run.
async fn session<'c>(
    connection: &'c mut SqliteConnection,
    run: &NewRun,
) -> Result<SqliteSession<&'c mut SqliteConnection>> {
    let now = Timestamp::from_micros(clock::now(connection).await?);
    let catalog = Arc::new(to_start(connection, &run.flow, run.id).await?);
    Ok(SqliteSession::new(connection, now, catalog))
}
