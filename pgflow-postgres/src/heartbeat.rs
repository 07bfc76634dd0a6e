//! Keeping leases, and taking back those of workers that are gone.

use std::collections::{BTreeMap, BTreeSet};

use pgflow_machine::{Beat, Lease};
use sqlx::Row;
use sqlx::postgres::PgRow;

use super::batch::Leases;
use super::claim::GRACE;
use super::ended::failed;
use super::engine::Lane;
use super::error::{translate, unexpected};
use super::open::Postgres;
use pgflow_backend::backend::{BackendError, Swept};

const HEARTBEAT: &str = "select outcome from pgflow.heartbeat($1, $2, $3, $4)";
const SWEEP: &str = "with here as (
     update pgflow.workers set last_heartbeat_at = clock_timestamp() where worker_id = any ($1))
   select requeued, flow_slug, run_id, step_slug, input,
          case when requeued is not null and pgflow.needs_waking() then 'on' end as wakes
     from pgflow.sweep_and_claim($2, '{}', 0)";

impl Postgres {
    pub(super) async fn beat(&self, leases: &[Lease]) -> Result<Vec<Beat>, BackendError> {
        if leases.is_empty() {
            return Ok(Vec::new());
        }
        // Each once: the core extends a lease once per call, and calls it lost the second time.
        let unique: BTreeSet<_> = leases.iter().filter_map(Lease::task).collect();
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
        let beat = |lease: &Lease| beats.get(lease.task()?).copied();
        Ok(leases.iter().map(|lease| beat(lease).unwrap_or(Beat::Lost)).collect())
    }

    pub(super) async fn sweep_tasks(&self) -> Result<Swept, BackendError> {
        let workers = self.workers.all();
        let statement = || sqlx::query(SWEEP).bind(&workers).bind(GRACE);
        let rows = self.engine.ask(Lane::Worker, statement).await.map_err(translate)?;
        let (swept, _) = self.swept(&rows)?;
        self.wake_after(&rows).await;
        Ok(swept)
    }

    /// What a sweep did, which others may want to know, and the rows behind that.
    pub(super) fn swept<'a>(
        &self,
        rows: &'a [PgRow],
    ) -> Result<(Swept, Vec<&'a PgRow>), BackendError> {
        let Some((first, others)) = rows.split_first() else { return Err(unexpected("no row")) };
        let requeued: i32 = first.try_get("requeued").map_err(translate)?;
        if requeued > 0 {
            self.bell.ring_all();
        }
        let mut tasks = Vec::new();
        for row in others {
            match row.try_get::<Option<&str>, _>("step_slug").map_err(translate)? {
                Some(_) => tasks.push(row),
                None => failed(row, "input")?.announce(),
            }
        }
        Ok((Swept { requeued: u64::from(requeued.unsigned_abs()) }, tasks))
    }
}
