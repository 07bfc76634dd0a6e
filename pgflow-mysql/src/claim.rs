//! Tasks that may be claimed, and taking them.
//!
//! Every range of the index of tasks that are ready is a part of a statement of its own, with constants as its bounds: no server
//! then reads more entries of the index than there are tasks to take. The texts of such statements depend on how many steps a worker
//! has code for, which is the same each time.

use std::collections::HashMap;
use std::ops::DerefMut;

use pgflow_backend::store::{Take, Taken};
use pgflow_machine::{
    BULK_FROM, Candidate, Lane, Ready, TaskRef, Timestamp, Version, WorkerId, bulk_until, to_bulk,
};
use serde::Serialize;
use sqlx::{AssertSqlSafe, MySqlConnection};
use uuid::Uuid;

use crate::error::Result;
use crate::json_rows::{Hex, json_rows};
use crate::load::TaskAt;
use crate::payloads::parse;
use crate::session::MySqlSession;

/// Queues of a flow's steps are numbered within this many.
pub(crate) const SPAN: i64 = 1 << 16;

/// The first moment of a queue after a moment.
const NEXT: &str = "(select ready_at from pgflow_tasks force index (pgflow_tasks_ready) \
                     where queue = ? and ready_at > ? order by ready_at limit 1)";

/// Whether there is a task in a range of a queue.
const IS_ANY: &str = "(select cast(? as signed) from pgflow_tasks force index (pgflow_tasks_ready) \
                       where queue = ? and ready_at > ? and ready_at <= ? limit 1)";

/// The oldest tasks of a range of a queue that nobody else is about to take.
const READY: &str = "
    select run, task_index, ready_at, attempts, octet_length(input)
      from pgflow_tasks force index (pgflow_tasks_ready)
     where queue = ? and ready_at > ? and ready_at <= ?
     order by ready_at, run, step, task_index limit ?
       for update skip locked";

/// The oldest tasks of a range of a queue, from an index on.
const IN_THE_WAY: &str = "
    select run, step, task_index
      from pgflow_tasks force index (pgflow_tasks_ready)
     where queue = ? and ready_at > ? and ready_at <= ? and task_index >= ?
     order by ready_at limit ?
       for update skip locked";

const MAKE_WAY: &str = "
    update json_table(?, '$[*]' columns (
             run char(32) path '$.run', step int path '$.step', task_index int path '$.task_index')) k
      straight_join pgflow_tasks t force index (primary) on t.run = unhex(k.run) and t.step = k.step and t.task_index = k.task_index
       set t.ready_at = t.ready_at + ? + cast(t.task_index as signed) * ?";

/// Bytes of what tasks of single steps work on: the run's input, and what the steps before it put out.
const BYTES: &str = "
    select d.run, k.step, cast(d.input_bytes + coalesce((
             select sum(s.output_bytes) from pgflow_steps s where s.run = d.run and find_in_set(s.step, k.deps)), 0) as signed)
      from json_table(?, '$[*]' columns (
             run char(32) path '$.run', step int path '$.step', deps longtext path '$.deps')) k
      straight_join pgflow_run_data d force index (primary) on d.run = unhex(k.run)";

const TAKE: &str = "
    update json_table(?, '$[*]' columns (
             run char(32) path '$.run', step int path '$.step', task_index int path '$.task_index',
             lost_at bigint path '$.lost_at')) k
      straight_join pgflow_tasks t force index (primary) on t.run = unhex(k.run) and t.step = k.step and t.task_index = k.task_index
       set t.status = 'started', t.ready_at = null, t.lost_at = k.lost_at, t.attempts = t.attempts + 1,
           t.started_at = ?, t.worker = ?";

const ELEMENTS: &str = "
    select t.run, t.step, t.task_index, t.input
      from json_table(?, '$[*]' columns (
             run char(32) path '$.run', step int path '$.step', task_index int path '$.task_index')) k
      straight_join pgflow_tasks t force index (primary) on t.run = unhex(k.run) and t.step = k.step and t.task_index = k.task_index";

/// A task that may be claimed, and is locked.
#[derive(Clone, Copy, Debug)]
pub struct Claimable {
    at: TaskRef,
    version: i64,
    attempts: u32,
    has_element: bool,
}

#[derive(Serialize)]
struct TakeRow {
    #[serde(flatten)]
    at: TaskAt,
    lost_at: i64,
}

#[derive(Serialize)]
struct BytesRow {
    run: Hex,
    step: usize,
    /// As `find_in_set` wants them.
    deps: String,
}

/// The queue of a step.
pub(crate) fn queue(version: &Version, step: usize) -> i64 {
    version.id * SPAN + i64::try_from(step).unwrap_or(i64::MAX)
}

/// As many parts as there are ranges.
fn union(part: &str, ranges: usize) -> AssertSqlSafe<String> {
    AssertSqlSafe(vec![part; ranges].join(" union all "))
}

pub(crate) async fn next_ready<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    lanes: &[Lane],
    after: Option<Timestamp>,
) -> Result<Option<Timestamp>> {
    if lanes.is_empty() {
        return Ok(None);
    }
    let after = after.map_or(i64::MIN, Timestamp::micros);
    let mut query = sqlx::query_scalar(union(NEXT, lanes.len()));
    for lane in lanes {
        query = query.bind(queue(&lane.version, lane.step)).bind(after);
    }
    let next: Vec<i64> = query.fetch_all(session.connection()).await?;
    Ok(next.into_iter().min().map(Timestamp::from_micros))
}

/// Tasks that may be claimed, locked.
pub(crate) async fn ready<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    lanes: &[Lane],
    max: u32,
) -> Result<Vec<Ready<Candidate<Claimable>>>> {
    let mut found = Vec::new();
    for (number, after, until) in ranges_with_tasks(session, lanes).await? {
        let lane = &lanes[number];
        let query = sqlx::query_as(READY).bind(queue(&lane.version, lane.step));
        let query = query.bind(after).bind(until).bind(max.min(lane.max));
        let rows: Vec<(Uuid, u32, i64, u32, Option<i64>)> =
            query.fetch_all(session.connection()).await?;
        found.extend(rows.into_iter().map(|(run, index, ready_at, attempts, bytes)| {
            let at = TaskRef { run: pgflow_machine::RunId(run), step: lane.step, index };
            let has_element = bytes.is_some();
            let task = Claimable { at, version: lane.version.id, attempts, has_element };
            let bytes = bytes.map_or(0, size);
            let task = Candidate { task, bytes, lane: number, index };
            Ready { task, queue: number, ready_at: Timestamp::from_micros(ready_at) }
        }));
    }
    weigh(session, lanes, &mut found).await?;
    Ok(found)
}

/// Moves tasks of wide maps that stand in turn to where bulk is.
pub(crate) async fn make_way<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    lanes: &[&Lane],
    max: u32,
) -> Result<()> {
    let (edge, now) = (bulk_until(session.now).micros(), session.now.micros());
    let (back, ahead) = to_bulk();
    for lane in lanes {
        let query = sqlx::query_as(IN_THE_WAY).bind(queue(&lane.version, lane.step));
        let query = query.bind(edge).bind(now).bind(BULK_FROM).bind(max);
        let rows: Vec<(Uuid, u16, u32)> = query.fetch_all(session.connection()).await?;
        let task = |(run, step, index): (Uuid, u16, u32)| {
            TaskAt::from(TaskRef { run: pgflow_machine::RunId(run), step: step.into(), index })
        };
        let tasks: Vec<_> = rows.into_iter().map(task).collect();
        if !tasks.is_empty() {
            let query = sqlx::query(MAKE_WAY).bind(json_rows(&tasks)?).bind(back).bind(ahead);
            query.execute(session.connection()).await?;
        }
    }
    Ok(())
}

fn size(bytes: i64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Ranges that are not empty: the number of the lane, after and until when.
async fn ranges_with_tasks<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    lanes: &[Lane],
) -> Result<Vec<(usize, i64, i64)>> {
    let (edge, now) = (bulk_until(session.now).micros(), session.now.micros());
    let of_lane = |number: usize| [(number, i64::MIN, edge), (number, edge, now)];
    let ranges: Vec<_> = (0..lanes.len()).flat_map(of_lane).collect();
    if ranges.is_empty() {
        return Ok(ranges);
    }
    let mut query = sqlx::query_scalar(union(IS_ANY, ranges.len()));
    for (at, (lane, after, until)) in (0_i64..).zip(&ranges) {
        let lane = &lanes[*lane];
        query = query.bind(at).bind(queue(&lane.version, lane.step)).bind(after).bind(until);
    }
    let any: Vec<i64> = query.fetch_all(session.connection()).await?;
    let mut found: Vec<_> =
        any.into_iter().filter_map(|at| ranges.get(size(at)).copied()).collect();
    found.sort_unstable();
    Ok(found)
}

/// Adds how much tasks of single steps are given.
async fn weigh<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    lanes: &[Lane],
    found: &mut [Ready<Candidate<Claimable>>],
) -> Result<()> {
    let singles = found.iter().filter(|ready| !ready.task.task.has_element);
    let rows: Vec<_> =
        singles.map(|ready| bytes_row(&lanes[ready.queue], ready.task.task.at)).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let query = sqlx::query_as(BYTES).bind(json_rows(&rows)?);
    let rows: Vec<(Uuid, i32, i64)> = query.fetch_all(session.connection()).await?;
    let bytes: HashMap<_, _> =
        rows.into_iter().map(|(run, step, bytes)| ((run, step), size(bytes))).collect();
    for ready in found.iter_mut().filter(|ready| !ready.task.task.has_element) {
        let at = ready.task.task.at;
        let key = (at.run.0, i32::try_from(at.step).unwrap_or(i32::MAX));
        ready.task.bytes = bytes.get(&key).copied().unwrap_or_default();
    }
    Ok(())
}

fn bytes_row(lane: &Lane, at: TaskRef) -> BytesRow {
    let deps = lane.version.plan.step(at.step).deps.iter().map(usize::to_string);
    BytesRow { run: Hex(at.run), step: at.step, deps: deps.collect::<Vec<_>>().join(",") }
}

pub(crate) async fn take<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    worker: WorkerId,
    tasks: &[Take<Claimable>],
) -> Result<Vec<Taken>> {
    let row = |take: &Take<Claimable>| TakeRow {
        at: take.task.at.into(),
        lost_at: take.lost_after.micros(),
    };
    let rows: Vec<_> = tasks.iter().map(row).collect();
    let query = sqlx::query(TAKE).bind(json_rows(&rows)?).bind(session.now.micros());
    query.bind(worker.0).execute(session.connection()).await?;
    let mut elements = elements(session, tasks).await?;
    let mut taken = Vec::new();
    for Take { task, .. } in tasks {
        let element = elements.remove(&task.at).map(|text| parse(&text)).transpose()?;
        let version = session.version(task.version)?;
        taken.push(Taken { at: task.at, version, attempt: task.attempts + 1, element });
    }
    Ok(taken)
}

/// What tasks of maps work on.
async fn elements<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    tasks: &[Take<Claimable>],
) -> Result<HashMap<TaskRef, String>> {
    let of_maps = tasks.iter().filter(|take| take.task.has_element);
    let wanted: Vec<TaskAt> = of_maps.map(|take| take.task.at.into()).collect();
    if wanted.is_empty() {
        return Ok(HashMap::new());
    }
    let query = sqlx::query_as(ELEMENTS).bind(json_rows(&wanted)?);
    let rows: Vec<(Uuid, u16, u32, Option<String>)> = query.fetch_all(session.connection()).await?;
    let element = |(run, step, index, text): (Uuid, u16, u32, Option<String>)| {
        let at = TaskRef { run: pgflow_machine::RunId(run), step: step.into(), index };
        Some((at, text?))
    };
    Ok(rows.into_iter().filter_map(element).collect())
}
