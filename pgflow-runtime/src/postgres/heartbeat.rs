//! Keeping leases, and taking back those of workers that are gone.

use std::collections::{BTreeMap, BTreeSet};

use pgflow_machine::{Beat, Lease};
use sqlx::Row;
use sqlx::postgres::PgRow;

use super::batch::Leases;
use super::claim::GRACE;
use super::engine::Lane;
use super::error::{translate, unexpected};
use super::open::Postgres;
use crate::backend::{BackendError, Swept};

const HEARTBEAT: &str = "select outcome from pgflow.heartbeat($1, $2, $3, $4)";
const SWEEP: &str = "with here as (
     update pgflow.workers set last_heartbeat_at = clock_timestamp() where worker_id = any ($1))
   select pgflow.requeue_stalled_tasks($2) as requeued";

impl Postgres {
    pub(super) async fn beat(&self, leases: &[Lease]) -> Result<Vec<Beat>, BackendError> {
        if leases.is_empty() {
            return Ok(Vec::new());
        }
        // Each once: the core extends a lease once per call, and calls it lost the second time.
        let unique: BTreeSet<&Lease> = leases.iter().collect();
        let mut sorted = Leases::default();
        for lease in &unique {
            sorted.push(lease);
        }
        let statement = || sorted.bind(sqlx::query(HEARTBEAT));
        let rows = self.engine.ask(Lane::Worker, statement).await.map_err(translate)?;
        let mut beats = BTreeMap::new();
        for (lease, row) in unique.into_iter().zip(&rows) {
            let word: &str = row.try_get("outcome").map_err(translate)?;
            let beat = Beat::from_word(word);
            beats.insert(lease, beat.ok_or_else(|| unexpected(format_args!("the beat `{word}`")))?);
        }
        Ok(leases.iter().map(|lease| beats.get(lease).copied().unwrap_or(Beat::Lost)).collect())
    }

    pub(super) async fn sweep_tasks(&self) -> Result<Swept, BackendError> {
        let workers = self.workers.all();
        let statement = || sqlx::query(SWEEP).bind(&workers).bind(GRACE);
        let rows = self.engine.ask(Lane::Worker, statement).await.map_err(translate)?;
        self.swept(&rows[0])
    }

    /// What a sweep did; others may want to know.
    pub(super) fn swept(&self, row: &PgRow) -> Result<Swept, BackendError> {
        let requeued: i32 = row.try_get("requeued").map_err(translate)?;
        if requeued > 0 {
            self.bell.ring_all();
        }
        Ok(Swept { requeued: u64::from(requeued.unsigned_abs()) })
    }
}
