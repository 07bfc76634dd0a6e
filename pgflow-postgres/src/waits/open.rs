//! Beginning to wait, and what is needed for that.

use pgflow_machine::wait::HookToken;
use pgflow_machine::{Settled, TaskLease};
use sqlx::Row;

use super::WaitColumns;
use crate::batch::Leases;
use crate::ended::ended;
use crate::engine::Lane;
use crate::error::translate;
use crate::open::Postgres;
use crate::settle::outcome_of;
use pgflow_backend::backend::BackendError;

const ANNOUNCE: &str = "select token from pgflow.announce_hooks($1, $2, $3, $4)";

/// With the runs that ended because what they waited for had happened before, or because they cannot wait for it.
const WAIT: &str = "
  select w.outcome, w.run_id, e.flow_slug, e.status, to_jsonb(e.error) as error, current_setting('pgflow.wakes', true) as wakes
    from pgflow.wait_tasks($1, $2, $3, $4, $5) w
    left join lateral pgflow.ended_runs(array[w.run_id]) e on true";

impl Postgres {
    pub(super) async fn announce_hooks(
        &self,
        leases: &[TaskLease],
    ) -> Result<Vec<Option<HookToken>>, BackendError> {
        let mut columns = Leases::default();
        for lease in leases {
            columns.push(lease);
        }
        let statement = || columns.bind(sqlx::query(ANNOUNCE));
        let rows = self.engine.ask(Lane::Worker, statement).await.map_err(translate)?;
        let token = |row: &_| -> Result<_, sqlx::Error> {
            let token: Option<String> = Row::try_get(row, "token")?;
            Ok(token.map(HookToken::from_stored))
        };
        rows.iter().map(|row| token(row).map_err(translate)).collect()
    }

    /// Lets tasks wait, with an outcome each. Children may have ended at once.
    pub(crate) async fn begin_waits(
        &self,
        waits: &WaitColumns<'_>,
    ) -> Result<Vec<Settled>, BackendError> {
        let statement = || waits.bind(sqlx::query(WAIT));
        let rows = self.engine.ask(Lane::Worker, statement).await.map_err(translate)?;
        let mut over = Vec::new();
        for row in &rows {
            if row.try_get::<Option<&str>, _>("status").map_err(translate)?.is_some() {
                let run = ended(row, "status", "error")?;
                if !over.contains(&run.run) {
                    run.announce();
                    over.push(run.run);
                }
            }
        }
        self.wake_after(&rows).await;
        rows.iter().map(outcome_of).collect()
    }
}
