//! Keeping leases, and taking back those of workers that are gone.

use pgflow_machine::{Beat, Lease};
use sqlx::Row;

use super::batch::Leases;
use super::engine::Lane;
use super::error::{translate, unexpected};
use super::open::Postgres;
use crate::backend::{BackendError, Swept};

const HEARTBEAT: &str = "select outcome from pgflow.heartbeat($1, $2, $3, $4)";
/// The grace is what a lease lasts longer than its step's timeout.
const SWEEP: &str = "with here as (
     update pgflow.workers set last_heartbeat_at = clock_timestamp() where worker_id = any ($1))
   select pgflow.requeue_stalled_tasks(2) as requeued";

impl Postgres {
    pub(super) async fn beat(&self, leases: &[Lease]) -> Result<Vec<Beat>, BackendError> {
        if leases.is_empty() {
            return Ok(Vec::new());
        }
        let mut order: Vec<usize> = (0..leases.len()).collect();
        order.sort_by_key(|&position| &leases[position]);
        let mut sorted = Leases::default();
        for &position in &order {
            sorted.push(&leases[position]);
        }
        let statement = || sorted.bind(sqlx::query(HEARTBEAT));
        let rows = self.engine.ask(Lane::Worker, statement).await.map_err(translate)?;
        let mut beats = vec![Beat::Lost; leases.len()];
        for (position, row) in order.into_iter().zip(&rows) {
            let word: &str = row.try_get("outcome").map_err(translate)?;
            beats[position] = Beat::from_word(word)
                .ok_or_else(|| unexpected(format_args!("the beat `{word}`")))?;
        }
        Ok(beats)
    }

    pub(super) async fn sweep_tasks(&self) -> Result<Swept, BackendError> {
        let workers = self.workers.all();
        let statement = || sqlx::query(SWEEP).bind(&workers);
        let rows = self.engine.ask(Lane::Worker, statement).await.map_err(translate)?;
        let requeued: i32 = rows[0].try_get("requeued").map_err(translate)?;
        if requeued > 0 {
            self.bell.ring_all();
        }
        Ok(Swept { requeued: u64::from(requeued.unsigned_abs()) })
    }
}
