//! Submitting in a transaction of the application's.

use std::sync::Arc;

use pgflow_backend::backend::Reply;
use pgflow_backend::sql::check_transaction;
use pgflow_backend::store;
use pgflow_machine::job::{JobProblem, NewJob, Submitted};
use pgflow_machine::{Catalog, Limits, Timestamp};
use sqlx::SqliteConnection;

use crate::clock;
use crate::session::SqliteSession;

/// Submits a job as part of the transaction that is open on this connection. Begin it with `BEGIN IMMEDIATE`: one that has read
/// before it writes can't get the write lock while others write, and fails at once.
pub fn submit_in<'a>(
    connection: &'a mut SqliteConnection,
    job: &'a NewJob,
    by: &'a str,
) -> Reply<'a, Result<Submitted, JobProblem>> {
    Box::pin(async move {
        check_transaction(connection)?;
        let now = Timestamp::from_micros(clock::now(connection).await?);
        // Jobs do not look at flows.
        let catalog = Arc::new(Catalog::new(Vec::new()));
        let mut session = SqliteSession::new(connection, now, catalog);
        store::submit_in(&mut session, job, by, Limits::default()).await
    })
}
