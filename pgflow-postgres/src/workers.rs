//! Workers of this process, as the database knows them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pgflow_machine::WorkerId;
use uuid::Uuid;

use super::claim::int;
use super::engine::Lane;
use super::open::Postgres;
use pgflow_backend::backend::{Claim, WorkerCard};

/// Those that the database has, with what they said about themselves when they signed on.
#[derive(Default)]
pub(super) struct Workers(Mutex<Vec<Known>>);

struct Known {
    worker: WorkerId,
    card: Option<WorkerCard>,
    /// Whether its row is there, as far as we know.
    is_registered: bool,
}

impl Workers {
    fn lock(&self) -> MutexGuard<'_, Vec<Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn all(&self) -> Vec<Uuid> {
        self.lock().iter().map(|known| known.worker.0).collect()
    }

    fn is_registered(&self, worker: WorkerId) -> bool {
        self.lock().iter().any(|known| known.worker == worker && known.is_registered)
    }

    fn card(&self, worker: WorkerId) -> Option<WorkerCard> {
        self.lock().iter().find(|known| known.worker == worker)?.card.clone()
    }

    fn add(&self, worker: WorkerId, card: Option<WorkerCard>) {
        let mut workers = self.lock();
        workers.retain(|known| known.worker != worker);
        workers.push(Known { worker, card, is_registered: true });
    }

    /// Its row was deleted, as prune does with those that were silent for long.
    pub(super) fn deleted(&self, worker: WorkerId) {
        for known in self.lock().iter_mut().filter(|known| known.worker == worker) {
            known.is_registered = false;
        }
    }

    /// It has ended. Whether it was known.
    pub(super) fn forget(&self, worker: WorkerId) -> bool {
        let mut workers = self.lock();
        let before = workers.len();
        workers.retain(|known| known.worker != worker);
        workers.len() < before
    }
}

const SIGN_ON: &str = "
  insert into pgflow.workers (worker_id, queue_name, function_name, host, pid, slots, fetches_outputs)
  values ($1, $2, $3, $4, $5, $6, true)
  on conflict (worker_id) do update set last_heartbeat_at = clock_timestamp(), stopped_at = null";

impl Postgres {
    /// A claim names its worker, for people who look at what it holds, and the core refuses one that
    /// it does not know.
    pub(super) async fn register(&self, claim: &Claim) -> Result<(), sqlx::Error> {
        let worker = claim.worker;
        if self.workers.is_registered(worker) {
            return Ok(());
        }
        let card = self.workers.card(worker);
        let queues: Vec<_> = claim.queues().collect();
        self.write_worker(worker, &queues.join(","), card.as_ref()).await?;
        self.workers.add(worker, card);
        Ok(())
    }

    /// A worker says who it is, before its first claim.
    pub(super) async fn register_card(&self, card: &WorkerCard) -> Result<(), sqlx::Error> {
        self.write_worker(card.id, &card.queues.join(","), Some(card)).await?;
        self.workers.add(card.id, Some(card.clone()));
        Ok(())
    }

    async fn write_worker(
        &self,
        worker: WorkerId,
        queues: &str,
        card: Option<&WorkerCard>,
    ) -> Result<(), sqlx::Error> {
        let insert = || {
            sqlx::query(SIGN_ON)
                .bind(worker.0)
                .bind(queues)
                .bind(env!("CARGO_PKG_NAME"))
                .bind(card.and_then(|card| card.host.as_deref()))
                .bind(card.and_then(|card| i32::try_from(card.pid).ok()))
                .bind(card.map(|card| int(card.slots)))
        };
        self.engine.ask(Lane::Worker, insert).await.map(drop)
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
