//! Deleting what is old.

use pgflow_machine::Timestamp;
use serde_json::json;

use super::error::Result;
use super::session::{Conn, SqliteSession};

/// Runs that ended before a moment, `?1`, and that nobody waits for: by the index of their flow and status.
macro_rules! prunable {
    () => {
        "from pgflow_flows f cross join pgflow_runs r on r.flow = f.id
          where r.status in ('completed', 'failed', 'cancelled') and r.started_at <= ?1 and r.ended_at <= ?1
            and (r.awaited = 0 or not exists (
              select 1 from pgflow_awaited a
               where a.child = lower(
                       substr(hex(r.run_id), 1, 8) || '-' || substr(hex(r.run_id), 9, 4) || '-' || substr(hex(r.run_id), 13, 4) || '-' ||
                       substr(hex(r.run_id), 17, 4) || '-' || substr(hex(r.run_id), 21))
                 and a.kind = 'run' and a.orphaned is null))
          limit ?2"
    };
}
pub(crate) use prunable;

const ENDED: &str = concat!("select r.id ", prunable!());

/// What is deleted of them, in this order: a step says where its tasks are.
const DELETE: &[&str] = &[
    "delete from pgflow_tasks where id in (
       select t.id from json_each(?1) k
         cross join pgflow_steps s on s.id >= k.value << 16 and s.id < (k.value + 1) << 16
         cross join pgflow_tasks t on t.id >= s.first_task and t.id < s.first_task + s.tasks)",
    "delete from pgflow_steps where id in (
       select s.id from json_each(?1) k
         cross join pgflow_steps s on s.id >= k.value << 16 and s.id < (k.value + 1) << 16)",
    "delete from pgflow_events where run in (select value from json_each(?1))",
    "delete from pgflow_run_data where run in (select value from json_each(?1))",
    "delete from pgflow_stream_chunks where stream in (
       select s.id from json_each(?1) k
         cross join pgflow_runs r on r.id = k.value cross join pgflow_streams s on s.run_id = r.run_id)",
    "delete from pgflow_stream_writers where stream in (
       select s.id from json_each(?1) k
         cross join pgflow_runs r on r.id = k.value cross join pgflow_streams s on s.run_id = r.run_id)",
    "delete from pgflow_streams where run_id in (
       select r.run_id from json_each(?1) k cross join pgflow_runs r on r.id = k.value)",
    "delete from pgflow_hooks where run_id in (
       select r.run_id from json_each(?1) k cross join pgflow_runs r on r.id = k.value)",
    "delete from pgflow_signals where run_id in (
       select r.run_id from json_each(?1) k cross join pgflow_runs r on r.id = k.value)",
    "delete from pgflow_runs where id in (select value from json_each(?1))",
];

/// Deletes up to `max` runs that ended by then.
pub(super) async fn prune<C: Conn>(
    session: &mut SqliteSession<C>,
    ended_by: Timestamp,
    max: u32,
) -> Result<u64> {
    let query = sqlx::query_scalar(ENDED).bind(ended_by.micros()).bind(max);
    let runs: Vec<i64> = query.fetch_all(&mut *session.connection).await?;
    if runs.is_empty() {
        return Ok(0);
    }
    let ids = json!(runs).to_string();
    for &delete in DELETE {
        sqlx::query(delete).bind(&ids).execute(&mut *session.connection).await?;
    }
    Ok(runs.len() as u64)
}
