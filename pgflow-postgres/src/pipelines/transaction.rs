//! Functions of pipelines that share a transaction with the settle of their messages.

use pgflow_backend::backend::BackendError;
use pgflow_backend::store::{Queues as _, settle_messages_in};
use pgflow_backend::tx::StepTx;
use pgflow_machine::job::JobSettled;
use pgflow_machine::permit::MessageSettle;

use super::session::{Inside, PostgresSession};
use crate::error::{not_committed, translate};
use crate::open::Postgres;
use crate::shared;
use crate::transaction::PostgresTx;

impl Postgres {
    /// Settles messages in the transaction of their attempt, and commits if all of that took effect. What was not recorded is undone: a
    /// transaction that is dropped rolls back.
    pub(super) async fn commit_messages_in(
        &self,
        tx: StepTx,
        settles: &[MessageSettle],
        by: &str,
    ) -> Result<Vec<JobSettled>, BackendError> {
        let limits = self.job_limits().await?;
        let PostgresTx { mut transaction, .. } = self.take_back(tx).await?;
        let mut session = PostgresSession::on(Inside::of_attempt(&mut transaction));
        let (answers, ready) = settle_messages_in(&mut session, settles, by, limits).await?;
        if answers.iter().any(|answer| *answer != JobSettled::Applied) {
            self.engine.in_time("undoing", transaction.rollback()).await.map_err(translate)?;
            return Ok(answers);
        }
        if self.engine.is_pooled() {
            shared::forget(&mut transaction).await.map_err(translate)?;
        }
        self.engine.in_time("a commit", transaction.commit()).await.map_err(not_committed)?;
        self.tell(ready).await;
        Ok(answers)
    }
}
