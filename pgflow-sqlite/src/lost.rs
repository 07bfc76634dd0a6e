//! Tasks that somebody has, or that wait for somebody in particular.

use std::sync::Arc;

use pgflow_machine::{RunId, TaskKey, TaskLease, Version, WorkerId};
use serde_json::Value;
use uuid::Uuid;

use super::error::Result;
use super::row::row;
use super::session::{Conn, SqliteSession};

pub(super) const LOST: &str = "
    select r.run_id, t.queue, t.task_index, t.attempts
      from pgflow_tasks t cross join pgflow_runs r on r.id = t.step >> 16
     where t.lost_at < ?1 order by t.lost_at limit ?2";

/// What a worker holds of some flows. There are never more held tasks than all workers have room for.
pub(super) const HELD: &str = "
    select r.run_id, t.queue, t.task_index, t.attempts
      from pgflow_tasks t cross join pgflow_runs r on r.id = t.step >> 16
     where t.lost_at > 0 and t.worker = ?1 and t.queue >> 16 in (select value from json_each(?2))";

const HASTEN: &str = "
    update pgflow_tasks set ready_at = ?1
     where ready_at > ?1 and queue >> 16 in (select value from json_each(?2))
       and yielded_attempt = attempts";

row! {
    struct Found {
        run_id: Uuid,
        queue: i64,
        task_index: u32,
        attempts: u32,
    }
}

pub(super) async fn lost<C: Conn>(
    session: &mut SqliteSession<C>,
    max: u32,
) -> Result<Vec<TaskKey>> {
    let query = sqlx::query_as(LOST).bind(session.now.micros()).bind(max);
    let found: Vec<Found> = query.fetch_all(&mut *session.connection).await?;
    found.iter().map(|task| key(session, task)).collect()
}

pub(super) async fn held<C: Conn>(
    session: &mut SqliteSession<C>,
    worker: WorkerId,
    queues: &[Arc<Version>],
) -> Result<Vec<TaskLease>> {
    let query = sqlx::query_as(HELD).bind(worker.0).bind(ids(queues));
    let found: Vec<Found> = query.fetch_all(&mut *session.connection).await?;
    let lease = |task: &Found| Ok(TaskLease { task: key(session, task)?, attempt: task.attempts });
    found.iter().map(lease).collect()
}

pub(super) async fn hasten<C: Conn>(
    session: &mut SqliteSession<C>,
    queues: &[Arc<Version>],
) -> Result<u64> {
    let query = sqlx::query(HASTEN).bind(session.now.micros()).bind(ids(queues));
    Ok(query.execute(&mut *session.connection).await?.rows_affected())
}

fn ids(queues: &[Arc<Version>]) -> String {
    queues.iter().map(|version| version.id).collect::<Value>().to_string()
}

fn key<C: Conn>(session: &SqliteSession<C>, task: &Found) -> Result<TaskKey> {
    let (version, step) = session.queue(task.queue)?;
    let step = version.plan.step(step).slug.to_string();
    Ok(TaskKey { run: RunId(task.run_id), step, index: task.task_index })
}
