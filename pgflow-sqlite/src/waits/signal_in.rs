//! Signals in transactions of the application's.

use std::sync::Arc;

use pgflow_backend::backend::Reply;
use pgflow_backend::sql::check_transaction;
use pgflow_backend::store;
use pgflow_machine::wait::{Signal, Signalled};
use pgflow_machine::{Limits, Timestamp};
use sqlx::SqliteConnection;

use crate::clock;
use crate::definitions::all;
use crate::session::SqliteSession;

/// Sends a signal as part of the transaction that is open on this connection. Begin it with `BEGIN IMMEDIATE`: one that has read
/// before it writes can't get the write lock while others write, and fails at once.
pub fn signal_in<'a>(
    connection: &'a mut SqliteConnection,
    signal: &'a Signal,
) -> Reply<'a, Signalled> {
    Box::pin(async move {
        check_transaction(connection)?;
        let now = Timestamp::from_micros(clock::now(connection).await?);
        let catalog = Arc::new(all(connection).await?);
        let mut session = SqliteSession::new(connection, now, catalog);
        store::signal_in(&mut session, signal, Limits::default()).await
    })
}
