//! Tasks that a worker holds and does not know of.

use pgflow_machine::{Lease, WorkerId};
use sqlx::Row;

use super::batch::Leases;
use super::engine::Lane;
use super::error::translate;
use super::open::Postgres;
use pgflow_backend::backend::{BackendError, Source};

const RELEASE_UNKNOWN: &str =
    "select pgflow.release_unknown_tasks($5, $6, $1, $2, $3, $4) as released";

impl Postgres {
    pub(super) async fn release_unknown_tasks(
        &self,
        worker: WorkerId,
        sources: &[Source],
        known: &[Lease],
    ) -> Result<u64, BackendError> {
        let mut leases = Leases::default();
        for lease in known.iter().filter_map(Lease::task) {
            leases.push(lease);
        }
        let queues: Vec<_> = sources.iter().filter_map(Source::as_queue).collect();
        let statement = || leases.bind(sqlx::query(RELEASE_UNKNOWN)).bind(worker.0).bind(&queues);
        let rows = self.engine.ask(Lane::Worker, statement).await.map_err(translate)?;
        let released: i32 = rows[0].try_get("released").map_err(translate)?;
        if released > 0 {
            self.bell.ring_all();
        }
        Ok(u64::from(released.unsigned_abs()))
    }
}
