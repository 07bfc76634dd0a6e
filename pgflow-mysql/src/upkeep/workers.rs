//! Who works.

use pgflow_machine::{RunId, WorkerId};
use uuid::Uuid;

use super::flows;
use crate::MySql;
use crate::clock::now;
use crate::error::{Result, broken};
use crate::json_rows::{Hex, json_rows};
use pgflow_backend::backend::{BackendError, WorkerCard, WorkerQuery, WorkerRecord};
use pgflow_backend::store::upkeep::{FORGOTTEN, StoredWorker, ago, running, worker};

const FORGET: &str = "delete from pgflow_workers where seen_at < ?";

const SIGN_ON: &str = "
    insert into pgflow_workers (id, host, pid, queues, slots, started_at, seen_at) values (?, ?, ?, ?, ?, ?, ?)
        on duplicate key update seen_at = ?, stopped_at = null";

const BEAT: &str = concat!(
    "update json_table(?, '$[*]' columns (worker char(32) path '$')) k
       straight_join pgflow_workers w force index (primary) on w.id = unhex(k.worker)
        set w.seen_at = ",
    now!()
);

const END: &str = concat!(
    "update pgflow_workers set stopped_at = ",
    now!(),
    ", seen_at = ",
    now!(),
    " where id = ?"
);

const WORKERS: &str = "
    select id, host, pid, queues, slots, started_at, seen_at, stopped_at from pgflow_workers
     where id < ? and (? or (stopped_at is null and seen_at >= ?))
     order by id desc limit ?";

pub(super) async fn sign_on(mysql: &MySql, worker: &WorkerCard) -> Result<()> {
    let mut session = mysql.reading().await?;
    let forgotten = ago(session.now, FORGOTTEN).micros();
    sqlx::query(FORGET).bind(forgotten).execute(session.connection()).await?;
    let now = session.now.micros();
    let queues = serde_json::to_string(&worker.queues).map_err(broken)?;
    let query = sqlx::query(SIGN_ON).bind(worker.id.0).bind(&worker.host).bind(worker.pid);
    let query = query.bind(queues).bind(worker.slots).bind(now).bind(now).bind(now);
    query.execute(session.connection()).await?;
    mysql.signed.add(worker.id);
    Ok(())
}

/// Says that the workers of this process are alive; nothing depends on it.
pub(crate) async fn beat(mysql: &MySql) {
    let due = mysql.signed.due();
    if due.is_empty() {
        return;
    }
    let beat = async {
        // A worker's id is written as a run's is.
        let due: Vec<_> = due.into_iter().map(|worker| Hex(RunId(worker.0))).collect();
        let mut session = mysql.reading().await?;
        sqlx::query(BEAT).bind(json_rows(&due)?).execute(session.connection()).await?;
        Ok(())
    };
    let beaten: Result<()> = beat.await;
    if let Err(error) = beaten.map_err(BackendError::from) {
        tracing::debug!(%error, "cannot say that this worker is alive");
    }
}

/// Says that a worker has ended; nothing depends on it.
pub(crate) async fn note_end(mysql: &MySql, worker: WorkerId) {
    let end = async {
        let mut session = mysql.reading().await?;
        sqlx::query(END).bind(worker.0).execute(session.connection()).await?;
        Ok(())
    };
    let ended: Result<()> = end.await;
    if let Err(error) = ended.map_err(BackendError::from) {
        tracing::debug!(%error, "cannot say that this worker has stopped");
    }
}

pub(super) async fn workers(mysql: &MySql, query: &WorkerQuery) -> Result<Vec<WorkerRecord>> {
    let mut session = mysql.reading().await?;
    let running = running(&flows::held(&mut session).await?);
    let rows = sqlx::query_as(WORKERS)
        .bind(query.after.map_or(Uuid::max(), |after| after.0))
        .bind(query.with_gone)
        .bind(ago(session.now, WorkerQuery::LONG_GONE).micros())
        .bind(query.max);
    let rows: Vec<StoredWorker> = rows.fetch_all(session.connection()).await?;
    rows.into_iter().map(|row| worker(row, &running).map_err(broken)).collect()
}
