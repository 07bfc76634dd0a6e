//! Steps that share a transaction with the record of their completion.

use pgflow_machine::{Lease, Settle, Settled};
use serde_json::Value;
use sqlx::{Row, Transaction};

use super::batch::Completions;
use super::claim::int;
use super::error::translate;
use super::open::Postgres;
use super::settle::{outcome, output};
use super::shared;
use crate::backend::BackendError;
use crate::tx::{Inner, Tx};

// The moment a transaction began at tells it from all others of its session.
const HOLDS: &str = "
  select pgflow.holds_task($1, $2, $3, $4), (extract(epoch from now()) * 1000000)::int8";
const COMPLETE: &str = "
  select outcome from pgflow.complete_tasks($1, $2, $3, $4, $5)
   where (extract(epoch from now()) * 1000000)::int8 = $6";

impl Postgres {
    /// The fence counts when the step is recorded; looking now saves work that would be undone.
    pub(super) async fn begin_step(&self, lease: &Lease) -> Result<Option<Tx>, BackendError> {
        let is_pooled = self.engine.is_pooled();
        let begin = if is_pooled { shared::BEGIN } else { "begin" };
        let mut transaction = self.steps.begin_with(begin).await.map_err(translate)?;
        let statement = sqlx::query_as(HOLDS)
            .bind(lease.task.run.0)
            .bind(&lease.task.step)
            .bind(int(lease.task.index))
            .bind(int(lease.attempt))
            .persistent(!is_pooled);
        let holds = statement.fetch_one(&mut *transaction);
        let holds = self.engine.in_time("a look", holds).await.map_err(translate)?;
        let (holds, since): (bool, i64) = holds;
        Ok(holds.then_some(Tx(Inner::Postgres(transaction, since))))
    }

    /// What was not recorded is undone: a transaction that is dropped rolls back.
    pub(super) async fn commit_step(
        &self,
        tx: Tx,
        settle: &Settle,
    ) -> Result<Settled, BackendError> {
        let Some((transaction, began)) = postgres(tx) else {
            return Err(BackendError::Unsupported {
                backend: "postgres",
                what: "commit a transaction of another database",
            });
        };
        let Some(output) = output(settle) else {
            drop(transaction);
            let work = self.settle_tasks(std::slice::from_ref(settle), None).await?;
            return Ok(work.settled[0]);
        };
        let is_pooled = self.engine.is_pooled();
        let record = record(transaction, began, settle, output, is_pooled);
        let word = self.engine.in_time("recording a step", record).await.map_err(translate)?;
        let settled = outcome(&word.ok_or(BackendError::TransactionEnded)?)?;
        self.ring_for(std::slice::from_ref(settle), &[settled]);
        Ok(settled)
    }
}

/// What became of it; nothing, if the transaction that began then is not the open one.
async fn record(
    mut transaction: Transaction<'static, sqlx::Postgres>,
    began: i64,
    settle: &Settle,
    output: &Value,
    is_pooled: bool,
) -> Result<Option<String>, sqlx::Error> {
    let mut completion = Completions::default();
    completion.push(&settle.lease, output);
    // The pool may be the application's, with a memory for statements.
    let statement = completion.bind(sqlx::query(COMPLETE)).bind(began).persistent(!is_pooled);
    let Some(row) = statement.fetch_optional(&mut *transaction).await? else {
        return Ok(None);
    };
    let outcome: String = row.try_get("outcome")?;
    if Settled::from_word(&outcome) == Some(Settled::Applied) {
        if is_pooled {
            shared::forget(&mut transaction).await?;
        }
        transaction.commit().await?;
    } else {
        transaction.rollback().await?;
    }
    Ok(Some(outcome))
}

#[cfg_attr(
    not(feature = "sqlite"),
    expect(clippy::unnecessary_wraps, reason = "with more databases it may be another's")
)]
fn postgres(tx: Tx) -> Option<(Transaction<'static, sqlx::Postgres>, i64)> {
    match tx.0 {
        Inner::Postgres(transaction, began) => Some((transaction, began)),
        #[cfg(feature = "sqlite")]
        Inner::Sqlite(..) => None,
    }
}
