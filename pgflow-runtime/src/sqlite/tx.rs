//! Steps that share a transaction with the record of their completion.

use pgflow_machine::{Lease, Settle, Settled, Standing};
use sqlx::{SqliteConnection, Transaction};

use super::Sqlite;
use super::definitions::Session;
use super::error::Result;
use super::load;
use super::settle::settle_in;
use super::tasks::Tasks;
use crate::backend::BackendError;
use crate::tx::{Inner, Tx};

/// Opens the transaction, which has the write lock of the whole file until it ends.
pub(super) async fn begin(sqlite: &Sqlite, lease: &Lease) -> Result<Option<Tx>> {
    let mut tx = sqlite.connections.begin().await?;
    let session = sqlite.memory.session(&mut tx).await?;
    if !holds(&mut tx, &session, lease).await? {
        return Ok(None);
    }
    sqlx::query("savepoint pgflow_step").execute(&mut *tx).await?;
    Ok(Some(Tx(Inner::Sqlite(tx, sqlite.connections.lock.clone()))))
}

/// Records the completion, and commits only if it took effect.
pub(super) async fn commit(sqlite: &Sqlite, tx: Tx, settle: &Settle) -> Result<Settled> {
    let mut tx = own(tx)?;
    if !is_still_open(&mut tx).await? {
        rollback(tx).await?;
        return Err(BackendError::TransactionEnded.into());
    }
    let session = sqlite.memory.session(&mut tx).await?;
    let (outcomes, news) = settle_in(&mut tx, &session, std::slice::from_ref(settle)).await?;
    let outcome = outcomes.first().copied().unwrap_or(Settled::Unknown);
    if outcome == Settled::Applied {
        tx.commit().await?;
        sqlite.hints.flows(&news);
    } else {
        tx.rollback().await?;
    }
    Ok(outcome)
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

async fn holds(
    connection: &mut SqliteConnection,
    session: &Session,
    lease: &Lease,
) -> Result<bool> {
    let runs = load::runs(connection, session, [lease.task.run]).await?;
    let Some(run) = runs.get(&lease.task.run) else { return Ok(false) };
    let Some((step, id)) = run.task(&lease.task) else { return Ok(false) };
    let tasks = Tasks::load(connection, &[id]).await?;
    let standing = tasks.get(id).map(|task| Standing {
        run: run.state.status,
        step: run.state.steps[step].status,
        task: task.status,
        attempts: task.attempts,
    });
    Ok(standing.is_some_and(|standing| standing.applies(lease.attempt)))
}

#[cfg_attr(
    not(feature = "postgres"),
    expect(clippy::unnecessary_wraps, reason = "with Postgres there is another")
)]
fn own(tx: Tx) -> Result<Transaction<'static, sqlx::Sqlite>> {
    match tx.0 {
        Inner::Sqlite(tx, _) => Ok(tx),
        #[cfg(feature = "postgres")]
        Inner::Postgres(..) => Err(super::error::Error::Backend(BackendError::Unsupported {
            backend: "sqlite",
            what: "commit a transaction of another database",
        })),
    }
}
