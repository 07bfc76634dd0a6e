//! Needs that share a transaction with the record of their end.

use pgflow_machine::job::{JobHold, JobSettle, JobSettled};

use super::check_caller;
use super::settle::Ending;
use crate::batch::without_nul;
use crate::error::{not_committed, not_recorded, translate};
use crate::open::Postgres;
use crate::shared;
use crate::transaction::PostgresTx;
use pgflow_backend::backend::BackendError;
use pgflow_backend::tx::StepTx;

const HOLDS: &str = "
  select coalesce(bool_and(pgflow.holds_job(h.job, h.token)), true), (extract(epoch from now()) * 1000000)::int8
    from unnest($1, $2) h(job, token)";

const BEGAN: &str = "select (extract(epoch from now()) * 1000000)::int8";

impl Postgres {
    /// The fence counts when the end is recorded; looking now saves work that would be undone.
    pub(crate) async fn begin_holding(
        &self,
        holds: &[JobHold],
    ) -> Result<Option<StepTx>, BackendError> {
        let is_pooled = self.engine.is_pooled();
        let begin = if is_pooled { shared::BEGIN } else { "begin" };
        let mut transaction = self.steps.begin_with(begin).await.map_err(translate)?;
        let (jobs, tokens): (Vec<_>, Vec<_>) =
            holds.iter().map(|hold| (hold.job.as_str(), without_nul(&hold.token.0))).unzip();
        let statement = sqlx::query_as(HOLDS).bind(jobs).bind(tokens).persistent(!is_pooled);
        let holds = self.engine.in_time("a look", statement.fetch_one(&mut *transaction)).await;
        let (holds, since): (bool, i64) = holds.map_err(translate)?;
        Ok(holds.then(|| -> StepTx { Box::new(PostgresTx { transaction, began: since }) }))
    }

    /// The transaction that was lent, if it is still that one.
    pub(crate) async fn take_back(&self, tx: StepTx) -> Result<PostgresTx, BackendError> {
        let Some(mut tx) = tx.downcast::<PostgresTx>() else {
            return Err(BackendError::Unsupported {
                backend: "postgres",
                what: "commit a transaction of another database",
            });
        };
        let look = sqlx::query_scalar(BEGAN).persistent(!self.engine.is_pooled());
        let look = look.fetch_one(tx.connection());
        let now: i64 = self.engine.in_time("a look", look).await.map_err(not_recorded)?;
        if now == tx.began { Ok(tx) } else { Err(BackendError::TransactionEnded) }
    }

    /// What was not recorded is undone: a transaction that is dropped rolls back.
    pub(super) async fn commit_need(
        &self,
        tx: StepTx,
        settle: &JobSettle,
        by: &str,
    ) -> Result<JobSettled, BackendError> {
        check_caller(by)?;
        let limits = self.job_limits().await?;
        let PostgresTx { mut transaction, .. } = self.take_back(tx).await?;
        let is_pooled = self.engine.is_pooled();
        let ending = Ending::of(settle, &limits);
        let statement = ending.statement(settle, by).persistent(!is_pooled);
        let row = self.engine.in_time("recording a job", statement.fetch_one(&mut *transaction));
        let row = row.await.map_err(not_recorded)?;
        let settled = ending.read(settle, &row)?;
        if settled != JobSettled::Applied {
            self.engine.in_time("undoing", transaction.rollback()).await.map_err(translate)?;
            return Ok(settled);
        }
        if is_pooled {
            shared::forget(&mut transaction).await.map_err(translate)?;
        }
        self.engine.in_time("a commit", transaction.commit()).await.map_err(not_committed)?;
        self.ring_for_ready(std::slice::from_ref(&row))?;
        self.wake_after(std::slice::from_ref(&row)).await;
        self.ring_for_new(settle.submits.iter());
        Ok(settled)
    }
}
