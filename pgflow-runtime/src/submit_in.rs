//! Submitting a job inside a transaction of the application's.

use pgflow_machine::job::{JobProblem, NewJob, Submitted};
use pgflow_machine::permit::Message;

use crate::Tx;
use crate::backend::Reply;

/// A connection that can submit a job as part of the transaction that is open on it: the job exists if and only if that
/// transaction commits. Workers find it at their next look, which may be a second later, because a hint must not be sent
/// before the commit.
///
/// A connection without a transaction is refused. A job that can't be, because it would wait for something that is not there, is
/// an error that ends a transaction of Postgres: all of it is undone.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[job] mod ping { use super::*; #[need] pub async fn pong(job: u8) -> Result<Next> { Ok(Next::done(job)) } }
/// # fn main() {}
/// use pgflow::{Db, client::SubmitIn};
///
/// /// For `sqlx::Transaction`s of Postgres, SQLite and MySQL, and for the `Tx` of a step or need.
/// async fn order(db: &Db, tx: &mut (impl SubmitIn + Send)) -> Result<(), pgflow::ClientError> {
///     db.submit::<ping::pong>(&7).id("ping-7").within(tx).await?;
///     Ok(())
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "a job cannot be submitted in `{Self}`",
    label = "expected a `Transaction` of sqlx, or the `Tx` of a step or need",
    note = "sqlx's transactions count where `pgflow` has the feature of their database"
)]
pub trait SubmitIn {
    /// Submits a job, or finds that there is one of its name.
    fn submit_job<'a>(
        &'a mut self,
        job: &'a NewJob,
        by: &'a str,
    ) -> Reply<'a, Result<Submitted, JobProblem>>;

    /// Pushes a message of a queue.
    fn push_message<'a>(
        &'a mut self,
        message: &'a Message,
        by: &'a str,
    ) -> Reply<'a, Result<Submitted, JobProblem>>;
}

/// For a connection of a database, and for its transactions.
#[cfg(feature = "sql")]
macro_rules! submit_in {
    ($connection:ty, $database:ty, $backend:ident) => {
        #[diagnostic::do_not_recommend]
        impl SubmitIn for $connection {
            fn submit_job<'a>(
                &'a mut self,
                job: &'a NewJob,
                by: &'a str,
            ) -> Reply<'a, Result<Submitted, JobProblem>> {
                $backend::submit_in(self, job, by)
            }

            fn push_message<'a>(
                &'a mut self,
                message: &'a Message,
                by: &'a str,
            ) -> Reply<'a, Result<Submitted, JobProblem>> {
                $backend::push_in(self, message, by)
            }
        }

        #[diagnostic::do_not_recommend]
        impl SubmitIn for sqlx::Transaction<'_, $database> {
            fn submit_job<'a>(
                &'a mut self,
                job: &'a NewJob,
                by: &'a str,
            ) -> Reply<'a, Result<Submitted, JobProblem>> {
                $backend::submit_in(self, job, by)
            }

            fn push_message<'a>(
                &'a mut self,
                message: &'a Message,
                by: &'a str,
            ) -> Reply<'a, Result<Submitted, JobProblem>> {
                $backend::push_in(self, message, by)
            }
        }
    };
}

#[cfg(feature = "mysql")]
submit_in!(sqlx::MySqlConnection, sqlx::MySql, pgflow_mysql);
#[cfg(feature = "postgres")]
submit_in!(sqlx::PgConnection, sqlx::Postgres, pgflow_postgres);
#[cfg(feature = "sqlite")]
submit_in!(sqlx::SqliteConnection, sqlx::Sqlite, pgflow_sqlite);

/// A step or need can submit a job together with its own completion.
#[diagnostic::do_not_recommend]
impl SubmitIn for Tx {
    fn submit_job<'a>(
        &'a mut self,
        job: &'a NewJob,
        by: &'a str,
    ) -> Reply<'a, Result<Submitted, JobProblem>> {
        self.0.submit_job(job, by)
    }

    fn push_message<'a>(
        &'a mut self,
        message: &'a Message,
        by: &'a str,
    ) -> Reply<'a, Result<Submitted, JobProblem>> {
        self.0.push(message, by)
    }
}
