//! Steps that share a transaction with the record of their completion.

use sqlx::{SqliteConnection, Transaction};

use super::error::Result;
use crate::backend::BackendError;
use crate::tx::{Inner, Tx};

/// Makes a transaction one that is known again.
pub(super) async fn mark(
    mut tx: Transaction<'static, sqlx::Sqlite>,
) -> Result<Transaction<'static, sqlx::Sqlite>> {
    sqlx::query("savepoint pgflow_step").execute(&mut *tx).await?;
    Ok(tx)
}

/// The transaction that was marked; an error if its step has ended it.
pub(super) async fn take_back(tx: Tx) -> Result<Transaction<'static, sqlx::Sqlite>> {
    let mut tx = own(tx)?;
    if !is_still_open(&mut tx).await? {
        rollback(tx).await?;
        return Err(BackendError::TransactionEnded.into());
    }
    Ok(tx)
}

/// Whether this is the transaction that was begun: its savepoint is gone with it.
async fn is_still_open(connection: &mut SqliteConnection) -> Result<bool> {
    match sqlx::query("release pgflow_step").execute(connection).await {
        Ok(_) => Ok(true),
        Err(sqlx::Error::Database(error)) if error.message().contains("no such savepoint") => {
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
}

/// Undoes a transaction, and one that its step has ended as well: sqlx believes in it, and so does its connection.
pub(crate) async fn rollback(
    mut tx: Transaction<'static, sqlx::Sqlite>,
) -> std::result::Result<(), sqlx::Error> {
    // Refused, if one is open.
    let _ = sqlx::query("begin").execute(&mut *tx).await;
    tx.rollback().await
}

#[cfg_attr(
    not(any(feature = "mysql", feature = "postgres")),
    expect(clippy::unnecessary_wraps, reason = "with another database there is another")
)]
fn own(tx: Tx) -> Result<Transaction<'static, sqlx::Sqlite>> {
    match tx.0 {
        Inner::Sqlite(tx, _) => Ok(tx),
        #[allow(unreachable_patterns, reason = "with this feature alone there is nothing else")]
        _ => Err(super::error::Error::Backend(BackendError::Unsupported {
            backend: "sqlite",
            what: "commit a transaction of another database",
        })),
    }
}
