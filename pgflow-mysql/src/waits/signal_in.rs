//! Signals in transactions of the application's.

use pgflow_backend::backend::{BackendError, Reply};
use pgflow_backend::sql::check_transaction;
use pgflow_backend::store;
use pgflow_machine::wait::{Signal, Signalled};
use sqlx::MySqlConnection;

use crate::error::translate;
use crate::session::MySqlSession;

/// Sends a signal as part of the transaction that is open on this connection.
pub fn signal_in<'a>(
    connection: &'a mut MySqlConnection,
    signal: &'a Signal,
) -> Reply<'a, Signalled> {
    Box::pin(async move {
        check_transaction(connection)?;
        check_isolation(connection).await?;
        let mut session = MySqlSession::inside(connection).await?;
        let limits = session.limits();
        store::signal_in(&mut session, signal, limits).await
    })
}

/// One of two names, which no server has both of.
const ISOLATION: &str =
    "show session variables where variable_name in ('tx_isolation', 'transaction_isolation')";

/// A stricter transaction, which is the server's default, does not see who came to wait since it began: the signal would be
/// kept for nobody.
async fn check_isolation(connection: &mut MySqlConnection) -> Result<(), BackendError> {
    let (_, level): (String, String) =
        sqlx::query_as(ISOLATION).fetch_one(connection).await.map_err(translate)?;
    if level == "READ-COMMITTED" {
        return Ok(());
    }
    let sentence = format!(
        "a signal is sent in a transaction that is READ COMMITTED, not {level}: say \
         `set session transaction isolation level read committed` before it begins"
    );
    Err(BackendError::Refused(sentence.into()))
}
