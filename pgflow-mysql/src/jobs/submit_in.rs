//! Submitting in a transaction of the application's.

use pgflow_backend::backend::Reply;
use pgflow_backend::sql::check_transaction;
use pgflow_backend::store;
use pgflow_machine::job::{JobProblem, NewJob, Submitted};
use sqlx::MySqlConnection;

use crate::session::MySqlSession;

/// Submits a job as part of the transaction that is open on this connection.
pub fn submit_in<'a>(
    connection: &'a mut MySqlConnection,
    job: &'a NewJob,
    by: &'a str,
) -> Reply<'a, Result<Submitted, JobProblem>> {
    Box::pin(async move {
        check_transaction(connection)?;
        let mut session = MySqlSession::inside(connection).await?;
        let limits = session.limits();
        store::submit_in(&mut session, job, by, limits).await
    })
}
