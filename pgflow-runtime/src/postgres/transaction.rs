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

const HOLDS: &str = "select pgflow.holds_task($1, $2, $3, $4)";
const COMPLETE: &str = "select outcome from pgflow.complete_tasks($1, $2, $3, $4, $5)";

impl Postgres {
    /// The fence counts when the step is recorded; looking now saves work that would be undone.
    pub(super) async fn begin_step(&self, lease: &Lease) -> Result<Option<Tx>, BackendError> {
        let is_pooled = self.engine.is_pooled();
        let begin = if is_pooled { shared::BEGIN } else { "begin" };
        let mut transaction = self.steps.begin_with(begin).await.map_err(translate)?;
        let statement = sqlx::query_scalar(HOLDS)
            .bind(lease.task.run.0)
            .bind(&lease.task.step)
            .bind(int(lease.task.index))
            .bind(int(lease.attempt))
            .persistent(!is_pooled);
        let holds = statement.fetch_one(&mut *transaction);
        let holds: bool = self.engine.in_time("a look", holds).await.map_err(translate)?;
        Ok(holds.then_some(Tx(Inner::Postgres(transaction))))
    }

    /// What was not recorded is undone: a transaction that is dropped rolls back.
    pub(super) async fn commit_step(
        &self,
        tx: Tx,
        settle: &Settle,
    ) -> Result<Settled, BackendError> {
        let Some(transaction) = postgres(tx) else {
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
        let record = record(transaction, &settle.lease, output, is_pooled);
        let word = self.engine.in_time("recording a step", record).await.map_err(translate)?;
        let settled = outcome(&word)?;
        self.ring_for(std::slice::from_ref(settle), &[settled]);
        Ok(settled)
    }
}

async fn record(
    mut transaction: Transaction<'static, sqlx::Postgres>,
    lease: &Lease,
    output: &Value,
    is_pooled: bool,
) -> Result<String, sqlx::Error> {
    let mut completion = Completions::default();
    completion.push(lease, output);
    // The pool may be the application's, with a memory for statements.
    let statement = completion.bind(sqlx::query(COMPLETE)).persistent(!is_pooled);
    let row = statement.fetch_one(&mut *transaction).await?;
    let outcome: String = row.try_get("outcome")?;
    if Settled::from_word(&outcome) == Some(Settled::Applied) {
        if is_pooled {
            shared::forget(&mut transaction).await?;
        }
        transaction.commit().await?;
    } else {
        transaction.rollback().await?;
    }
    Ok(outcome)
}

#[cfg_attr(
    not(feature = "sqlite"),
    expect(clippy::unnecessary_wraps, reason = "with more databases it may be another's")
)]
fn postgres(tx: Tx) -> Option<Transaction<'static, sqlx::Postgres>> {
    match tx.0 {
        Inner::Postgres(transaction) => Some(transaction),
        #[cfg(feature = "sqlite")]
        Inner::Sqlite(_) => None,
    }
}
