//! Pushing in a transaction of the application's.

use pgflow_backend::backend::Reply;
use pgflow_backend::sql::check_transaction;
use pgflow_backend::store;
use pgflow_machine::job::{JobProblem, Submitted};
use pgflow_machine::permit::Message;
use sqlx::MySqlConnection;

use crate::session::MySqlSession;

/// Pushes a message as part of the transaction that is open on this connection.
pub fn push_in<'a>(
    connection: &'a mut MySqlConnection,
    message: &'a Message,
    by: &'a str,
) -> Reply<'a, Result<Submitted, JobProblem>> {
    Box::pin(async move {
        check_transaction(connection)?;
        let mut session = MySqlSession::inside(connection).await?;
        let limits = session.limits();
        store::push_in_transaction(&mut session, message, by, limits).await
    })
}
