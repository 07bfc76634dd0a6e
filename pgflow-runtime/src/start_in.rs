//! Starting a run inside a transaction of the application's.

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
/// use pgflow::{Db, client::StartIn};
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

/// For a connection of a database, and for its transactions.
#[cfg(feature = "sql")]
macro_rules! start_in {
    ($connection:ty, $database:ty, $start_in:path) => {
        #[diagnostic::do_not_recommend]
        impl StartIn for $connection {
            fn start_run(&mut self, run: NewRun) -> Reply<'_, Started> {
                $start_in(self, run)
            }
        }

        #[diagnostic::do_not_recommend]
        impl StartIn for sqlx::Transaction<'_, $database> {
            fn start_run(&mut self, run: NewRun) -> Reply<'_, Started> {
                $start_in(self, run)
            }
        }
    };
}

#[cfg(feature = "mysql")]
start_in!(sqlx::MySqlConnection, sqlx::MySql, pgflow_mysql::start_in);
#[cfg(feature = "postgres")]
start_in!(sqlx::PgConnection, sqlx::Postgres, pgflow_postgres::start_in);
#[cfg(feature = "sqlite")]
start_in!(sqlx::SqliteConnection, sqlx::Sqlite, pgflow_sqlite::start_in);

/// A step can start a run of another flow together with its own completion.
#[diagnostic::do_not_recommend]
impl StartIn for crate::Tx {
    fn start_run(&mut self, run: NewRun) -> Reply<'_, Started> {
        self.0.start_run(run)
    }
}
