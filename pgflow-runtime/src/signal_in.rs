//! Answering a step inside a transaction of the application's.

use pgflow_machine::wait::{Signal, Signalled};

use crate::Tx;
use crate::backend::Reply;

/// A connection that can answer a step as part of the transaction that is open on it: the step is answered if and only if that
/// transaction commits. Workers find what follows at their next look, which may be a second later.
///
/// A connection without a transaction is refused.
///
/// ```
/// # use pgflow::prelude::*;
/// use pgflow::{Db, wait::SignalIn};
///
/// /// For `sqlx::Transaction`s of Postgres, SQLite and MySQL, and for the `Tx` of a step or need.
/// async fn approve(db: &Db, tx: &mut (impl SignalIn + Send)) -> std::result::Result<(), pgflow::ClientError> {
///     db.signal_in(tx, "order-42-approval", Some("form-7"), &true).await?;
///     Ok(())
/// }
/// # fn main() {}
/// ```
#[diagnostic::on_unimplemented(
    message = "a step cannot be answered in `{Self}`",
    label = "expected a `Transaction` of sqlx, or the `Tx` of a step or need",
    note = "sqlx's transactions count where `pgflow` has the feature of their database"
)]
pub trait SignalIn {
    /// Sends a signal.
    fn send_signal<'a>(&'a mut self, signal: &'a Signal) -> Reply<'a, Signalled>;
}

/// For a connection of a database, and for its transactions.
#[cfg(feature = "sql")]
macro_rules! signal_in {
    ($connection:ty, $database:ty, $signal_in:path) => {
        #[diagnostic::do_not_recommend]
        impl SignalIn for $connection {
            fn send_signal<'a>(&'a mut self, signal: &'a Signal) -> Reply<'a, Signalled> {
                $signal_in(self, signal)
            }
        }

        #[diagnostic::do_not_recommend]
        impl SignalIn for sqlx::Transaction<'_, $database> {
            fn send_signal<'a>(&'a mut self, signal: &'a Signal) -> Reply<'a, Signalled> {
                $signal_in(self, signal)
            }
        }
    };
}

#[cfg(feature = "mysql")]
signal_in!(sqlx::MySqlConnection, sqlx::MySql, pgflow_mysql::signal_in);
#[cfg(feature = "postgres")]
signal_in!(sqlx::PgConnection, sqlx::Postgres, pgflow_postgres::signal_in);
#[cfg(feature = "sqlite")]
signal_in!(sqlx::SqliteConnection, sqlx::Sqlite, pgflow_sqlite::signal_in);

/// A step or need can answer another together with its own completion.
#[diagnostic::do_not_recommend]
impl SignalIn for Tx {
    fn send_signal<'a>(&'a mut self, signal: &'a Signal) -> Reply<'a, Signalled> {
        self.0.signal(signal)
    }
}
