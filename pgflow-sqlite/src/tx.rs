//! Steps that share a transaction with the record of their completion.

use std::pin::Pin;

use pgflow_backend::backend::{BackendError, NewRun, Reply, Started};
use pgflow_backend::sql::undone;
use pgflow_backend::tx::{StepTransaction, StepTx, WriteLock};
use pgflow_machine::job::{JobProblem, NewJob, Submitted};
use pgflow_machine::permit::Message;
use pgflow_machine::wait::{Signal, Signalled};
use sqlx::{SqliteConnection, Transaction};

use super::error::Result;
use super::jobs::submit_in;
use super::pipelines::push_in;
use super::start::start_in;
use super::waits::signal_in;

/// A transaction in the hands of a step, with the write lock that it has.
#[derive(Debug)]
pub struct SqliteTx {
    transaction: Transaction<'static, sqlx::Sqlite>,
    lock: WriteLock,
}

impl SqliteTx {
    /// A transaction that has the lock.
    pub fn new(transaction: Transaction<'static, sqlx::Sqlite>, lock: WriteLock) -> Self {
        Self { transaction, lock }
    }

    /// What the step speaks to the database through.
    pub fn connection(&mut self) -> &mut SqliteConnection {
        &mut self.transaction
    }

    /// The transaction, without its step.
    pub fn into_transaction(self) -> Transaction<'static, sqlx::Sqlite> {
        self.transaction
    }
}

impl StepTransaction for SqliteTx {
    fn start_run(&mut self, run: NewRun) -> Reply<'_, Started> {
        start_in(&mut self.transaction, run)
    }

    fn submit_job<'a>(
        &'a mut self,
        job: &'a NewJob,
        by: &'a str,
    ) -> Reply<'a, std::result::Result<Submitted, JobProblem>> {
        submit_in(&mut self.transaction, job, by)
    }

    fn push<'a>(
        &'a mut self,
        message: &'a Message,
        by: &'a str,
    ) -> Reply<'a, std::result::Result<Submitted, JobProblem>> {
        push_in(&mut self.transaction, message, by)
    }

    fn signal<'a>(&'a mut self, signal: &'a Signal) -> Reply<'a, Signalled> {
        signal_in(&mut self.transaction, signal)
    }

    fn rollback(self: Box<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async { undone(rollback(self.transaction).await) })
    }

    fn write_lock(&self) -> Option<WriteLock> {
        Some(self.lock.clone())
    }
}

/// Makes a transaction one that is known again.
pub(super) async fn mark(
    mut tx: Transaction<'static, sqlx::Sqlite>,
) -> Result<Transaction<'static, sqlx::Sqlite>> {
    sqlx::query("savepoint pgflow_step").execute(&mut *tx).await?;
    Ok(tx)
}

/// The transaction that was marked; an error if its step has ended it.
pub(super) async fn take_back(tx: StepTx) -> Result<Transaction<'static, sqlx::Sqlite>> {
    let tx = tx.downcast::<SqliteTx>().ok_or(BackendError::Unsupported {
        backend: "sqlite",
        what: "commit a transaction of another database",
    })?;
    let mut tx = tx.transaction;
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
async fn rollback(
    mut tx: Transaction<'static, sqlx::Sqlite>,
) -> std::result::Result<(), sqlx::Error> {
    // Refused, if one is open.
    let _ = sqlx::query("begin").execute(&mut *tx).await;
    tx.rollback().await
}
