//! What backends that speak through sqlx share.

use sqlx::Connection;

use crate::backend::BackendError;

/// Whether a run that starts on this connection is part of something that can still be undone.
pub fn check_transaction(connection: &impl Connection) -> Result<(), BackendError> {
    if connection.is_in_transaction() { Ok(()) } else { Err(BackendError::NoTransaction) }
}

/// Logs that a transaction could not be rolled back: it is undone with its connection.
pub fn undone(result: Result<(), sqlx::Error>) {
    if let Err(error) = result {
        tracing::debug!(%error, "a transaction could not be rolled back");
    }
}
