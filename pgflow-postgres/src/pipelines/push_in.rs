//! Pushing in a transaction of the application's.

use pgflow_backend::backend::Reply;
use pgflow_backend::sql::check_transaction;
use pgflow_backend::store;
use pgflow_machine::Limits;
use pgflow_machine::job::{JobProblem, Submitted};
use pgflow_machine::permit::Message;
use sqlx::PgConnection;

use super::session::{Inside, PostgresSession};

/// Pushes a message as part of the transaction that is open on this connection.
pub fn push_in<'a>(
    connection: &'a mut PgConnection,
    message: &'a Message,
    by: &'a str,
) -> Reply<'a, Result<Submitted, JobProblem>> {
    Box::pin(async move {
        check_transaction(connection)?;
        let mut session = PostgresSession::on(Inside::of_application(connection));
        // What can't be sent at all; the core looks at the rest.
        let limits = Limits { max_bytes: usize::MAX, ..Limits::default() };
        store::push_in_transaction(&mut session, message, by, limits).await
    })
}
