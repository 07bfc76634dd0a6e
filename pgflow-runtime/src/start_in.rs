//! Starting a run inside a transaction of the application's.

#[cfg(feature = "sql")]
use crate::backend::BackendError;
use crate::backend::{NewRun, Reply, Started};

/// A connection that can start a run as part of the transaction that is open on it: the run exists
/// if and only if that transaction commits. Workers find it at their next look, which may be a second later,
/// because a hint must not be sent before the commit.
///
/// A connection without a transaction is refused: the run would be there at once. What counts is a transaction that
/// was begun with sqlx; it does not know of a `BEGIN` that was sent as a statement.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow(input = u8)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
/// use pgflow::{Db, StartIn};
///
/// /// For `sqlx::Transaction`s of Postgres, SQLite and MySQL, and for the `Tx` of a step.
/// async fn order(db: &Db, tx: &mut (impl StartIn + Send)) -> Result<(), pgflow::ClientError> {
///     db.start_in(tx, count::Flow, &7).await?;
///     Ok(())
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "a run cannot be started in `{Self}`",
    label = "expected a `Transaction` of sqlx, or the `Tx` of a step",
    note = "sqlx's transactions count where `pgflow` has the feature of their database"
)]
pub trait StartIn {
    /// Starts a run, or finds the one of this id.
    fn start_run(&mut self, run: NewRun) -> Reply<'_, Started>;
}

/// Whether a run that starts on this connection is part of something that can still be undone.
#[cfg(feature = "sql")]
pub(crate) fn check_transaction(connection: &impl sqlx::Connection) -> Result<(), BackendError> {
    if connection.is_in_transaction() { Ok(()) } else { Err(BackendError::NoTransaction) }
}

#[cfg(feature = "postgres")]
#[diagnostic::do_not_recommend]
impl StartIn for sqlx::Transaction<'_, sqlx::Postgres> {
    fn start_run(&mut self, run: NewRun) -> Reply<'_, Started> {
        (**self).start_run(run)
    }
}

#[cfg(feature = "sqlite")]
#[diagnostic::do_not_recommend]
impl StartIn for sqlx::Transaction<'_, sqlx::Sqlite> {
    fn start_run(&mut self, run: NewRun) -> Reply<'_, Started> {
        (**self).start_run(run)
    }
}

#[cfg(feature = "mysql")]
#[diagnostic::do_not_recommend]
impl StartIn for sqlx::Transaction<'_, sqlx::MySql> {
    fn start_run(&mut self, run: NewRun) -> Reply<'_, Started> {
        (**self).start_run(run)
    }
}

/// A step can start a run of another flow together with its own completion.
#[diagnostic::do_not_recommend]
impl StartIn for crate::Tx {
    fn start_run(&mut self, run: NewRun) -> Reply<'_, Started> {
        self.connection().start_run(run)
    }
}
