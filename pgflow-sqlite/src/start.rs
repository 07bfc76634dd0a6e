//! Starting runs in transactions of the application's.

use std::sync::Arc;

use pgflow_machine::{Limits, Timestamp};
use sqlx::SqliteConnection;

use super::clock;
use super::definitions::to_start;
use super::error::Result;
use super::session::SqliteSession;
use pgflow_backend::backend::{NewRun, Reply, Started};
use pgflow_backend::sql::check_transaction;
use pgflow_backend::store;

/// Starts a run in the transaction that is open on this connection.
///
/// Begin the transaction with `BEGIN IMMEDIATE`: one that has read before it writes can't get the write
/// lock while others write, and fails at once.
pub fn start_in(connection: &mut SqliteConnection, run: NewRun) -> Reply<'_, Started> {
    Box::pin(async move {
        check_transaction(connection)?;
        let mut session = session(connection, &run).await?;
        store::start_in(&mut session, &run, Limits::default()).await
    })
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
