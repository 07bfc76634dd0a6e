//! What was lost, what is held, what waits for another worker, and what is old.

use std::ops::DerefMut;
use std::sync::Arc;

use pgflow_machine::{RunId, TaskKey, TaskLease, Timestamp, Version, WorkerId};
use sqlx::MySqlConnection;
use uuid::Uuid;

use crate::claim::queue;
use crate::error::Result;
use crate::json_rows::{Hex, json_rows};
use crate::session::MySqlSession;

const LOST: &str = "
    select t.run, r.flow, t.step, t.task_index
      from pgflow_tasks t force index (pgflow_tasks_lost)
      straight_join pgflow_runs r force index (primary) on r.id = t.run
     where t.lost_at < ? order by t.lost_at limit ?";

/// There are never more held tasks than all workers have room for.
const HELD: &str = "
    select t.run, r.flow, t.step, t.task_index, t.attempts
      from pgflow_tasks t force index (pgflow_tasks_lost)
      straight_join pgflow_runs r force index (primary) on r.id = t.run
     where t.lost_at > 0 and t.worker = ?";

const HASTEN: &str = "
    update pgflow_tasks force index (pgflow_tasks_ready) set ready_at = ?
     where queue = ? and ready_at > ? and yielded_attempt = attempts";

/// Runs that ended by then and that nobody waits for.
macro_rules! prunable {
    () => {
        "from pgflow_runs force index (pgflow_runs_ended)
          where ended_at <= ?
            and (awaited = 0 or not exists (
              select 1 from pgflow_awaited a force index (pgflow_awaited_child)
               where a.child = lower(concat(substr(hex(id), 1, 8), '-', substr(hex(id), 9, 4), '-', substr(hex(id), 13, 4), '-',
                                            substr(hex(id), 17, 4), '-', substr(hex(id), 21)))
                 and a.kind = 'run' and a.is_orphan = 0))"
    };
}
pub(crate) use prunable;

const ENDED: &str =
    concat!("select id ", prunable!(), " order by ended_at limit ? for update skip locked");

/// What is a run's, the run itself last.
const DELETE: &[&str] = &[
    "delete t from json_table(?, '$[*]' columns (run char(32) path '$')) k
       straight_join pgflow_tasks t force index (primary) on t.run = unhex(k.run)",
    "delete s from json_table(?, '$[*]' columns (run char(32) path '$')) k
       straight_join pgflow_steps s force index (primary) on s.run = unhex(k.run)",
    "delete e from json_table(?, '$[*]' columns (run char(32) path '$')) k
       straight_join pgflow_events e force index (primary) on e.run = unhex(k.run)",
    "delete d from json_table(?, '$[*]' columns (run char(32) path '$')) k
       straight_join pgflow_run_data d force index (primary) on d.run = unhex(k.run)",
    "delete c from json_table(?, '$[*]' columns (run char(32) path '$')) k
       straight_join pgflow_streams s force index (pgflow_streams_name) on s.run = unhex(k.run)
       straight_join pgflow_stream_chunks c force index (primary) on c.stream = s.id",
    "delete w from json_table(?, '$[*]' columns (run char(32) path '$')) k
       straight_join pgflow_streams s force index (pgflow_streams_name) on s.run = unhex(k.run)
       straight_join pgflow_stream_writers w force index (primary) on w.stream = s.id",
    "delete s from json_table(?, '$[*]' columns (run char(32) path '$')) k
       straight_join pgflow_streams s force index (pgflow_streams_name) on s.run = unhex(k.run)",
    "delete h from json_table(?, '$[*]' columns (run char(32) path '$')) k
       straight_join pgflow_hooks h force index (pgflow_hooks_task) on h.run = unhex(k.run)",
    "delete g from json_table(?, '$[*]' columns (run char(32) path '$')) k
       straight_join pgflow_signals g force index (pgflow_signals_run) on g.run = unhex(k.run)",
    "delete r from json_table(?, '$[*]' columns (run char(32) path '$')) k
       straight_join pgflow_runs r force index (primary) on r.id = unhex(k.run)",
];

pub(crate) async fn lost<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    max: u32,
) -> Result<Vec<TaskKey>> {
    let query = sqlx::query_as(LOST).bind(session.now.micros()).bind(max);
    let rows: Vec<(Uuid, i64, u16, u32)> = query.fetch_all(session.connection()).await?;
    rows.into_iter().map(|(run, flow, step, index)| key(session, run, flow, step, index)).collect()
}

pub(crate) async fn held<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    worker: WorkerId,
    queues: &[Arc<Version>],
) -> Result<Vec<TaskLease>> {
    let query = sqlx::query_as(HELD).bind(worker.0);
    let rows: Vec<(Uuid, i64, u16, u32, u32)> = query.fetch_all(session.connection()).await?;
    let is_asked = |flow: i64| queues.iter().any(|version| version.id == flow);
    let mut leases = Vec::new();
    for (run, flow, step, index, attempt) in rows {
        if is_asked(flow) {
            leases.push(TaskLease { task: key(session, run, flow, step, index)?, attempt });
        }
    }
    Ok(leases)
}

fn key<C: DerefMut<Target = MySqlConnection>>(
    session: &MySqlSession<C>,
    run: Uuid,
    flow: i64,
    step: u16,
    index: u32,
) -> Result<TaskKey> {
    let step = session.version(flow)?.plan.step(step.into()).slug.to_string();
    Ok(TaskKey { run: RunId(run), step, index })
}

pub(crate) async fn hasten<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    queues: &[Arc<Version>],
) -> Result<u64> {
    let now = session.now.micros();
    let mut hastened = 0;
    for version in queues {
        for step in 0..version.plan.steps().len() {
            let query = sqlx::query(HASTEN).bind(now).bind(queue(version, step)).bind(now);
            hastened += query.execute(session.connection()).await?.rows_affected();
        }
    }
    Ok(hastened)
}

pub(crate) async fn prune<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    ended_by: Timestamp,
    max: u32,
) -> Result<u64> {
    let query = sqlx::query_scalar(ENDED).bind(ended_by.micros()).bind(max);
    let runs: Vec<Uuid> = query.fetch_all(session.connection()).await?;
    if runs.is_empty() {
        return Ok(0);
    }
    let ids = json_rows(&runs.iter().map(|run| Hex(RunId(*run))).collect::<Vec<_>>())?;
    for &delete in DELETE {
        sqlx::query(delete).bind(&ids).execute(session.connection()).await?;
    }
    Ok(runs.len() as u64)
}
