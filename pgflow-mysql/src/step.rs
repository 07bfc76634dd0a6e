//! Steps that share a transaction with the record of their completion, and transactions of the application's.

use std::pin::Pin;
use std::time::Duration;

use pgflow_machine::job::{JobProblem, NewJob, Submitted};
use pgflow_machine::permit::Message;
use pgflow_machine::wait::{Signal, Signalled};
use pgflow_machine::{NewRun, Started};
use sqlx::{MySqlConnection, Transaction};
use tokio::time::timeout;

use super::connections::{PooledConnection, in_time};
use super::error::{Error, Result, is_duplicate, number, timed_out, translate};
use super::jobs::submit_in;
use super::pipelines::push_in;
use super::session::MySqlSession;
use super::store::MySql;
use super::waits::signal_in;
use pgflow_backend::backend::{BackendError, Reply};
use pgflow_backend::sql::{check_transaction, undone};
use pgflow_backend::store;
use pgflow_backend::tx::{StepTransaction, StepTx};

/// A transaction is known again by this: it is gone with it.
const MARK: &str = "savepoint pgflow_step";
const MARKED: &str = "release savepoint pgflow_step";

/// What a start that met another one of the same run goes back to.
const BEFORE_START: &str = "savepoint pgflow_start";
const NOT_STARTED: &str = "rollback to savepoint pgflow_start";

const ANOTHER: &str = "commit a transaction of another database";

/// There is no such savepoint.
const NO_SAVEPOINT: u16 = 1305;

/// Hands a transaction to a step.
pub(super) async fn lend(connection: PooledConnection, within: Duration) -> Result<StepTx> {
    let PooledConnection::Transaction(mut transaction) = connection else {
        return Err(BackendError::NoTransaction.into());
    };
    in_time("a savepoint", within, sqlx::raw_sql(MARK).execute(&mut *transaction)).await?;
    Ok(Box::new(MySqlTx(transaction)))
}

/// Takes it back; an error if the step has ended it. What the step set in its session is not for what we write.
pub(super) async fn take_back(store: &MySql, tx: StepTx) -> Result<MySqlSession<PooledConnection>> {
    let another = BackendError::Unsupported { backend: "mysql", what: ANOTHER };
    let MySqlTx(mut transaction) = tx.downcast().ok_or(another)?;
    let within = store.connections.answer_within();
    let taking = async {
        sqlx::raw_sql(MARKED).execute(&mut *transaction).await?;
        store.connections.reset(&mut transaction).await
    };
    let late = |_| Err(timed_out("a step's transaction", within).into());
    match timeout(within, taking).await.unwrap_or_else(late) {
        Ok(()) => {
            let connection = PooledConnection::Transaction(transaction);
            MySqlSession::of_step(connection, &store.known, within).await
        }
        Err(Error::Sqlx(error)) if number(&error) == NO_SAVEPOINT => {
            PooledConnection::Transaction(transaction).rollback(within).await?;
            Err(BackendError::TransactionEnded.into())
        }
        Err(error) => Err(error),
    }
}

/// A transaction in the hands of a step.
#[derive(Debug)]
pub struct MySqlTx(Transaction<'static, sqlx::MySql>);

impl MySqlTx {
    /// What the step speaks to the database through.
    pub fn connection(&mut self) -> &mut MySqlConnection {
        &mut self.0
    }
}

impl StepTransaction for MySqlTx {
    fn start_run(&mut self, run: NewRun) -> Reply<'_, Started> {
        start_in(&mut self.0, run)
    }

    fn submit_job<'a>(
        &'a mut self,
        job: &'a NewJob,
        by: &'a str,
    ) -> Reply<'a, std::result::Result<Submitted, JobProblem>> {
        submit_in(&mut self.0, job, by)
    }

    fn push<'a>(
        &'a mut self,
        message: &'a Message,
        by: &'a str,
    ) -> Reply<'a, std::result::Result<Submitted, JobProblem>> {
        push_in(&mut self.0, message, by)
    }

    fn signal<'a>(&'a mut self, signal: &'a Signal) -> Reply<'a, Signalled> {
        signal_in(&mut self.0, signal)
    }

    fn rollback(self: Box<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async { undone(self.0.rollback().await) })
    }
}

/// Starts a run in the transaction that is open on this connection.
pub fn start_in(connection: &mut MySqlConnection, run: NewRun) -> Reply<'_, Started> {
    Box::pin(async move {
        check_transaction(connection)?;
        let mut session = MySqlSession::inside(connection).await?;
        let limits = session.limits();
        sqlx::raw_sql(BEFORE_START).execute(session.connection()).await.map_err(translate)?;
        // Where the transaction is REPEATABLE READ, whoever locks a run that is not there keeps all others from starting theirs.
        session.locks = false;
        let started = store::start_in(&mut session, &run, limits).await;
        if !started.as_ref().is_err_and(is_duplicate) {
            return started;
        }
        // It is there, and was not when the transaction began.
        sqlx::raw_sql(NOT_STARTED).execute(session.connection()).await.map_err(translate)?;
        store::start_in(&mut session.locking(), &run, limits).await
    })
}
