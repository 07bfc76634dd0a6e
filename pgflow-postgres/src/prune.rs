//! Deleting what is old.

use std::time::Duration;

use sqlx::Row;

use super::claim::int;
use super::engine::Lane;
use super::error::translate;
use super::open::Postgres;
use pgflow_backend::backend::BackendError;

const PRUNE: &str = "select pgflow.prune_runs($1 * interval '1 microsecond', $2)";

/// A thousand years: no clock of a database shows more.
const LONGEST: i64 = 31_536_000_000_000_000;

impl Postgres {
    pub(super) async fn prune_runs(
        &self,
        older_than: Duration,
        max: u32,
    ) -> Result<u64, BackendError> {
        let micros = i64::try_from(older_than.as_micros()).unwrap_or(LONGEST).min(LONGEST);
        let statement = || sqlx::query(PRUNE).bind(micros).bind(int(max));
        let rows = self.engine.ask(Lane::Client, statement).await.map_err(translate)?;
        let pruned: i64 = rows[0].try_get(0).map_err(translate)?;
        Ok(pruned.unsigned_abs())
    }
}
