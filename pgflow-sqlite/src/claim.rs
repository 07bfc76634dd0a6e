//! Tasks that may be claimed, and taking them.

use std::collections::HashMap;
use std::sync::Arc;

use pgflow_machine::{
    BULK_FROM, Candidate, Lane, Ready, RunId, TaskRef, Timestamp, WorkerId, bulk_until, to_bulk,
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::definitions::{SPAN, place, queue};
use super::error::Result;
use super::payloads::parse;
use super::row::row;
use super::session::{Conn, SqliteSession};
use pgflow_backend::store::{Take, Taken};

/// The oldest ready tasks of lanes of queues, each `[queue, number of the queue, after, until, dependencies]`,
/// with the bytes of what they work on. Of each lane only as many entries of the index are read as could be taken.
pub(super) const READY: &str = "
    select t.value ->> 0, q.value ->> 1, t.value ->> 1, t.value ->> 2, t.value ->> 3
      from json_each(?1) q
      cross join json_each((
        select json_group_array(json_array(r.id, r.ready_at, r.bytes, r.task_index)) from (
          select id, ready_at, task_index, coalesce(
                   octet_length(input),
                   (select octet_length(d.input) from pgflow_run_data d where d.run = step >> 16)
                     + (select coalesce(sum(octet_length(s.output)), 0) from json_each(q.value ->> 4) p
                         cross join pgflow_steps s on s.id = (step >> 16 << 16) + p.value)) as bytes
            from pgflow_tasks
           where queue = q.value ->> 0 and ready_at > q.value ->> 2 and ready_at <= q.value ->> 3
           order by ready_at, id limit ?2
        ) r
      )) t";

/// Moves tasks of a queue from an index on to where bulk is.
pub(super) const MAKE_WAY: &str = "
    update pgflow_tasks set ready_at = ready_at + ?6 + task_index * ?7
     where task_index >= ?5 and id in (
       select id from pgflow_tasks where queue = ?1 and ready_at > ?2 and ready_at <= ?3 order by ready_at, id limit ?4)";

/// The first moment at which a task of these queues may be claimed.
pub(super) const NEXT: &str = "
    select min((select min(t.ready_at) from pgflow_tasks t where t.queue = q.value and t.ready_at > ?2))
      from json_each(?1) q";

/// Takes tasks, each `[id, when it counts as lost]`.
pub(super) const TAKE: &str = "
    update pgflow_tasks
       set status = 'started', ready_at = null, lost_at = k.value ->> 1, attempts = attempts + 1,
           started_at = ?2, worker = ?3
      from json_each(?1) k
     where pgflow_tasks.id = k.value ->> 0
    returning id, step, task_index, queue, attempts, input,
              (select r.run_id from pgflow_runs r where r.id = step >> 16) as run_id";

row! {
    struct Found {
        id: i64,
        step: i64,
        task_index: u32,
        queue: i64,
        attempts: u32,
        input: Option<String>,
        run_id: Uuid,
    }
}

pub(super) async fn ready<C: Conn>(
    session: &mut SqliteSession<C>,
    lanes: &[Lane],
    max: u32,
) -> Result<Vec<Ready<Candidate<i64>>>> {
    let edge = bulk_until(session.now).micros();
    let ranges = |(number, lane): (usize, &Lane)| {
        let planned = lane.version.plan.step(lane.step);
        let deps: Vec<_> = planned.deps.iter().map(|dep| place(*dep)).collect();
        let queue = queue(&lane.version, lane.step);
        let range = |after: i64, until: i64| json!([queue, number, after, until, deps]);
        [range(i64::MIN, edge), range(edge, session.now.micros())]
    };
    let asked: Value = lanes.iter().enumerate().flat_map(ranges).collect();
    let query = sqlx::query_as(READY).bind(asked.to_string()).bind(max);
    let rows: Vec<(i64, i64, i64, i64, u32)> = query.fetch_all(&mut *session.connection).await?;
    let candidate = |(task, lane, ready_at, bytes, index): (i64, i64, i64, i64, u32)| {
        let [lane, bytes] = [lane, bytes].map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        let task = Candidate { task, bytes, lane, index };
        Ready { task, queue: lane, ready_at: Timestamp::from_micros(ready_at) }
    };
    Ok(rows.into_iter().map(candidate).collect())
}

pub(super) async fn make_way<C: Conn>(
    session: &mut SqliteSession<C>,
    lanes: &[&Lane],
    max: u32,
) -> Result<()> {
    let (edge, (back, ahead)) = (bulk_until(session.now).micros(), to_bulk());
    for lane in lanes {
        let query = sqlx::query(MAKE_WAY).bind(queue(&lane.version, lane.step));
        let query = query.bind(edge).bind(session.now.micros()).bind(max);
        let query = query.bind(BULK_FROM).bind(back).bind(ahead);
        query.execute(&mut *session.connection).await?;
    }
    Ok(())
}

pub(super) async fn next_ready<C: Conn>(
    session: &mut SqliteSession<C>,
    lanes: &[Lane],
    after: Option<Timestamp>,
) -> Result<Option<Timestamp>> {
    let queues: Value = lanes.iter().map(|lane| queue(&lane.version, lane.step)).collect();
    let after = after.map_or(i64::MIN, Timestamp::micros);
    let query = sqlx::query_scalar(NEXT).bind(queues.to_string()).bind(after);
    let next: Option<i64> = query.fetch_one(&mut *session.connection).await?;
    Ok(next.map(Timestamp::from_micros))
}

pub(super) async fn take<C: Conn>(
    session: &mut SqliteSession<C>,
    worker: WorkerId,
    tasks: &[Take<i64>],
) -> Result<Vec<Taken>> {
    let asked: Value =
        tasks.iter().map(|take| json!([take.task, take.lost_after.micros()])).collect();
    let query = sqlx::query_as(TAKE).bind(asked.to_string());
    let query = query.bind(session.now.micros()).bind(worker.0);
    let mut found: Vec<Found> = query.fetch_all(&mut *session.connection).await?;
    let order: HashMap<i64, usize> = tasks.iter().map(|take| take.task).zip(0..).collect();
    found.sort_by_key(|task| order.get(&task.id).copied());
    found.into_iter().map(|task| taken(session, &task)).collect()
}

fn taken<C: Conn>(session: &mut SqliteSession<C>, task: &Found) -> Result<Taken> {
    let (version, step) = session.queue(task.queue)?;
    let (version, run) = (Arc::clone(version), RunId(task.run_id));
    session.ids.insert(run, task.step / SPAN);
    let element = task.input.as_deref().map(parse).transpose()?;
    let at = TaskRef { run, step, index: task.task_index };
    Ok(Taken { at, version, attempt: task.attempts, element })
}
