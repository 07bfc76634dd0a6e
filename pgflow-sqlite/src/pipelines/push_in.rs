//! Pushing in a transaction of the application's.

use std::sync::Arc;

use pgflow_backend::backend::Reply;
use pgflow_backend::sql::check_transaction;
use pgflow_backend::store;
use pgflow_machine::job::{JobProblem, Submitted};
use pgflow_machine::permit::Message;
use pgflow_machine::{Catalog, Limits, Timestamp};
use sqlx::SqliteConnection;

use crate::clock;
use crate::session::SqliteSession;

/// Pushes a message as part of the transaction that is open on this connection. Begin it with `BEGIN IMMEDIATE`: see
/// [`submit_in`](crate::submit_in).
pub fn push_in<'a>(
    connection: &'a mut SqliteConnection,
    message: &'a Message,
    by: &'a str,
) -> Reply<'a, Result<Submitted, JobProblem>> {
    Box::pin(async move {
        check_transaction(connection)?;
        let now = Timestamp::from_micros(clock::now(connection).await?);
        // Messages do not look at flows.
        let catalog = Arc::new(Catalog::new(Vec::new()));
        let mut session = SqliteSession::new(connection, now, catalog);
        store::push_in_transaction(&mut session, message, by, Limits::default()).await
    })
}
