//! Workers of this process, as the database knows them.

use std::sync::{Mutex, PoisonError};

use pgflow_machine::WorkerId;
use uuid::Uuid;

use super::engine::Lane;
use super::open::Postgres;

/// Those that are registered.
#[derive(Default)]
pub(super) struct Workers(Mutex<Vec<Uuid>>);

impl Workers {
    pub(super) fn all(&self) -> Vec<Uuid> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn knows(&self, worker: WorkerId) -> bool {
        self.all().contains(&worker.0)
    }

    fn add(&self, worker: WorkerId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(worker.0);
    }

    /// It has ended, or was deleted, as prune does with those that were silent for long. Whether it was known.
    pub(super) fn forget(&self, worker: WorkerId) -> bool {
        let mut workers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = workers.len();
        workers.retain(|known| *known != worker.0);
        workers.len() < before
    }
}

impl Postgres {
    /// A claim names its worker, for people who look at what it holds, and the core refuses one that
    /// it does not know.
    pub(super) async fn register(
        &self,
        worker: WorkerId,
        queues: &[String],
    ) -> Result<(), sqlx::Error> {
        if self.workers.knows(worker) {
            return Ok(());
        }
        let queues = queues.join(",");
        let insert = || {
            sqlx::query(
                "insert into pgflow.workers (worker_id, queue_name, function_name) values ($1, $2, $3)
                 on conflict (worker_id) do update set last_heartbeat_at = clock_timestamp()",
            )
            .bind(worker.0)
            .bind(&queues)
            .bind(env!("CARGO_PKG_NAME"))
        };
        self.engine.ask(Lane::Worker, insert).await?;
        self.workers.add(worker);
        Ok(())
    }

    /// Says goodbye; nothing depends on it.
    pub(super) async fn sign_off_from(&self, workers: &[Uuid]) {
        if workers.is_empty() {
            return;
        }
        let stop = || {
            sqlx::query("select pgflow.mark_worker_stopped(w) from unnest($1::uuid[]) w")
                .bind(workers)
        };
        if let Err(error) = self.engine.ask(Lane::Worker, stop).await {
            tracing::debug!(%error, "cannot say that this worker has stopped");
        }
    }
}
