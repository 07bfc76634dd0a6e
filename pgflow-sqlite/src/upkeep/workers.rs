//! Who works.

use pgflow_machine::WorkerId;
use serde_json::json;
use uuid::Uuid;

use super::flows::held;
use crate::error::{Result, broken};
use crate::{Sqlite, clock};
use pgflow_backend::backend::{BackendError, WorkerCard, WorkerQuery, WorkerRecord};
use pgflow_backend::store::upkeep::{FORGOTTEN, StoredWorker, micros, running, worker};

const SIGN_ON: &str = "
    insert into pgflow_workers (id, host, pid, queues, slots, started_at, seen_at)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?6)
    on conflict (id) do update set seen_at = excluded.seen_at, stopped_at = null";

const BEAT: &str = "
    update pgflow_workers set seen_at = ?1 where id in (select unhex(value) from json_each(?2))";

const END: &str = "update pgflow_workers set stopped_at = ?1, seen_at = ?1 where id = unhex(?2)";

const WORKERS: &str = "
    select id, host, pid, queues, slots, started_at, seen_at, stopped_at from pgflow_workers
     where id < ?1 and (?2 or (stopped_at is null and seen_at >= ?3))
     order by id desc limit ?4";

/// Says that the workers of this process are alive; nothing depends on it.
pub(crate) async fn beat(sqlite: &Sqlite) {
    let due: Vec<_> =
        sqlite.signed.due().into_iter().map(|worker| worker.0.simple().to_string()).collect();
    if due.is_empty() {
        return;
    }
    if let Err(error) = write_now(sqlite, BEAT, &json!(due).to_string()).await {
        tracing::debug!(%error, "cannot say that this worker is alive");
    }
}

/// Says that a worker has ended; nothing depends on it.
pub(crate) async fn note_end(sqlite: &Sqlite, worker: WorkerId) {
    if let Err(error) = write_now(sqlite, END, &worker.0.simple().to_string()).await {
        tracing::debug!(%error, "cannot say that this worker has stopped");
    }
}

/// Runs a statement with the time and a text.
async fn write_now(sqlite: &Sqlite, sql: &'static str, text: &str) -> Result<(), BackendError> {
    let write = async {
        let mut tx = sqlite.connections.begin().await?;
        let now = clock::now(&mut tx).await?;
        sqlx::query(sql).bind(now).bind(text).execute(&mut *tx).await?;
        Ok(tx.commit().await?)
    };
    let written: Result<()> = write.await;
    Ok(written?)
}

pub(super) async fn sign_on(sqlite: &Sqlite, worker: &WorkerCard) -> Result<()> {
    let mut tx = sqlite.connections.begin().await?;
    let now = clock::now(&mut tx).await?;
    let forgotten = now.saturating_sub(micros(FORGOTTEN));
    sqlx::query("delete from pgflow_workers where seen_at < ?")
        .bind(forgotten)
        .execute(&mut *tx)
        .await?;
    sqlx::query(SIGN_ON)
        .bind(worker.id.0)
        .bind(&worker.host)
        .bind(worker.pid)
        .bind(json!(worker.queues).to_string())
        .bind(worker.slots)
        .bind(now)
        .execute(&mut *tx)
        .await?;
    tx.commit().await?;
    sqlite.signed.add(worker.id);
    Ok(())
}

pub(super) async fn workers(sqlite: &Sqlite, query: &WorkerQuery) -> Result<Vec<WorkerRecord>> {
    let mut tx = sqlite.connections.read().await?;
    let now = clock::now(&mut tx).await?;
    let running = running(&held(&mut tx).await?);
    let rows = sqlx::query_as(WORKERS)
        .bind(query.after.map_or(Uuid::max(), |after| after.0))
        .bind(query.with_gone)
        .bind(now.saturating_sub(micros(WorkerQuery::LONG_GONE)))
        .bind(query.max);
    let rows: Vec<StoredWorker> = rows.fetch_all(&mut *tx).await?;
    rows.into_iter().map(|row| worker(row, &running).map_err(broken)).collect()
}
