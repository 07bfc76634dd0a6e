//! Steps that share a transaction with the record of their completion, and transactions of the application's.

use pgflow_machine::{Limits, NewRun, Started};
use sqlx::{MySqlConnection, Transaction};

use super::catalog::Known;
use super::connections::Held;
use super::error::{Result, number};
use super::session::MySqlSession;
use crate::backend::{BackendError, Reply};
use crate::start_in::{StartIn, check_transaction};
use crate::store::start_in;
use crate::tx::{Inner, Tx};

/// A transaction is known again by this: it is gone with it.
const MARK: &str = "savepoint pgflow_step";
const MARKED: &str = "release savepoint pgflow_step";

const ANOTHER: &str = "commit a transaction of another database";

/// There is no such savepoint.
const NO_SAVEPOINT: u16 = 1305;

/// Hands a transaction to a step.
pub(super) async fn lend(connection: Held) -> Result<Tx> {
    let Held::Transaction(mut transaction) = connection else {
        return Err(BackendError::NoTransaction.into());
    };
    sqlx::raw_sql(MARK).execute(&mut *transaction).await?;
    Ok(Tx(Inner::MySql(transaction)))
}

/// Takes it back; an error if the step has ended it.
pub(super) async fn take_back(known: &Known, tx: Tx) -> Result<MySqlSession<Held>> {
    let mut transaction = own(tx)?;
    match sqlx::raw_sql(MARKED).execute(&mut *transaction).await {
        Ok(_) => MySqlSession::of_step(Held::Transaction(transaction), known).await,
        Err(error) if number(&error) == NO_SAVEPOINT => {
            transaction.rollback().await?;
            Err(BackendError::TransactionEnded.into())
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg_attr(
    not(any(feature = "postgres", feature = "sqlite")),
    expect(clippy::unnecessary_wraps, reason = "with another database there is another")
)]
fn own(tx: Tx) -> Result<Transaction<'static, sqlx::MySql>> {
    match tx.0 {
        Inner::MySql(transaction) => Ok(transaction),
        #[allow(unreachable_patterns, reason = "with this feature alone there is nothing else")]
        _ => Err(BackendError::Unsupported { backend: "mysql", what: ANOTHER }.into()),
    }
}

#[diagnostic::do_not_recommend]
impl StartIn for MySqlConnection {
    fn start_run(&mut self, run: NewRun) -> Reply<'_, Started> {
        Box::pin(async move {
            check_transaction(self)?;
            let mut session = MySqlSession::inside(&mut *self).await?;
            start_in(&mut session, run, Limits::default()).await
        })
    }
}
