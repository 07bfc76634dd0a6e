//! Ending runs, and letting them go on.

use pgflow_machine::RunId;
use sqlx::Row;
use sqlx::postgres::PgRow;

use super::batch::without_nul;
use super::engine::Lane;
use super::error::{code, translate};
use super::jobs::ready_needs;
use super::open::Postgres;
use super::read::status;
use super::waits::asks_to_wake;
use pgflow_backend::backend::{BackendError, Cancelled, EndedRun, Retried};

/// A run that this very transaction cancelled was cancelled at its time.
const CANCEL: &str = concat!(
    "select run.flow_slug, run.status, coalesce(run.cancelled_at >= now(), false) as is_new, ",
    ready_needs!(),
    " from pgflow.cancel_run($1, $2) run"
);
const RETRY: &str = "select flow_slug, status from pgflow.retry_run($1)";

impl Postgres {
    pub(super) async fn cancel_run(
        &self,
        id: RunId,
        reason: Option<&str>,
    ) -> Result<Cancelled, BackendError> {
        let reason = reason.map(without_nul);
        let statement = || sqlx::query(CANCEL).bind(id.0).bind(reason.as_deref());
        let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
        let Some(row) = rows.first() else { return Ok(Cancelled::Unknown) };
        let status = status(row)?;
        if !row.try_get("is_new").map_err(translate)? {
            return Ok(Cancelled::Ended(status));
        }
        self.ring_for_run(id, row)?;
        self.bell.cancelled(id);
        self.ring_for_ready(&rows)?;
        let flow = row.try_get("flow_slug").map_err(translate)?;
        EndedRun { run: id, flow, status, error: None }.announce();
        if asks_to_wake(&rows) {
            self.wake_later(Lane::Client).await;
        }
        Ok(Cancelled::Cancelled)
    }

    pub(super) async fn retry_run(&self, id: RunId) -> Result<Retried, BackendError> {
        let statement = || sqlx::query(RETRY).bind(id.0);
        match self.engine.ask(Lane::Client, statement).await {
            Ok(rows) => {
                self.ring_for_run(id, &rows[0])?;
                Ok(Retried::Retried)
            }
            Err(error) if code(&error).as_deref() == Some("P0002") => Ok(Retried::Unknown),
            Err(error) if code(&error).as_deref() == Some("55000") => {
                let found = self.read_statuses(&[id]).await?;
                Ok(found.first().map_or(Retried::Unknown, |run| Retried::NotFailed(run.status)))
            }
            Err(error) => Err(translate(error)),
        }
    }

    fn ring_for_run(&self, id: RunId, row: &PgRow) -> Result<(), BackendError> {
        let flow: &str = row.try_get("flow_slug").map_err(translate)?;
        self.bell.ring(&self.flows_of_runs.learn(id, flow));
        Ok(())
    }
}
