//! Runs in a list.

use pgflow_machine::{RunId, RunStatus, Timestamp, Version};
use serde_json::{Value, json};
use uuid::Uuid;

use super::error::Result;
use super::load::word;
use super::session::{Conn, SqliteSession};
use pgflow_backend::backend::{RunQuery, RunSummary};
use pgflow_backend::store::OpenWork;

/// Merges the newest runs of each flow and status, so that no filter reads past runs that do not match it.
pub(super) const LIST: &str = "
    select r.run_id, r.flow, r.status, r.remaining_steps, r.started_at, r.ended_at
      from json_each(?1) q
      cross join json_each((
        select json_group_array(n.id) from (
          select id from pgflow_runs
           where flow = q.value ->> 0 and status = q.value ->> 1 and (started_at, run_id) < (?2, ?3) and started_at >= ?5
           order by started_at desc, run_id desc limit ?4
        ) n
      )) k
      cross join pgflow_runs r on r.id = k.value
     order by r.started_at desc, r.run_id desc limit ?4";

const STATUSES: &str = "
    select r.run_id, r.flow, r.status, r.remaining_steps, r.started_at, r.ended_at
      from json_each(?1) k cross join pgflow_runs r on r.run_id = unhex(k.value)";

/// Reads open runs only, so it costs the same after a million others.
pub(super) const OPEN: &str = "
    select count(distinct r.id), coalesce(sum(s.remaining_tasks), 0), min(s.started_at)
      from pgflow_runs r
      left join pgflow_steps s on s.id >= r.id << 16 and s.id < (r.id + 1) << 16 and s.status = 'started'
     where r.flow = ? and r.status = 'started'";

/// A row of [`LIST`] or [`STATUSES`].
pub(super) type Row = (Uuid, i64, String, u32, i64, Option<i64>);

pub(super) async fn list<C: Conn>(
    session: &mut SqliteSession<C>,
    query: &RunQuery,
) -> Result<Vec<RunSummary>> {
    let statuses =
        if query.statuses.is_empty() { RunStatus::ALL } else { query.statuses.as_slice() };
    let versions = session.catalog.of(&query.flows);
    let ranges: Value = versions
        .iter()
        .flat_map(|version| statuses.iter().map(|status| json!([version.id, status])))
        .collect();
    let (at, run) = query.after.map_or((i64::MAX, Uuid::max()), |(at, run)| (at.micros(), run.0));
    let rows = sqlx::query_as(LIST).bind(ranges.to_string()).bind(at).bind(run).bind(query.max);
    let rows = rows.bind(query.since.map_or(i64::MIN, Timestamp::micros));
    let rows: Vec<Row> = rows.fetch_all(&mut *session.connection).await?;
    rows.into_iter().map(|row| summary(session, row)).collect()
}

/// How runs are doing, without what they were given or output.
pub(super) async fn statuses<C: Conn>(
    session: &mut SqliteSession<C>,
    runs: &[RunId],
) -> Result<Vec<RunSummary>> {
    let ids: Value = runs.iter().map(|run| run.0.simple().to_string()).collect();
    let rows = sqlx::query_as(STATUSES).bind(ids.to_string());
    let rows: Vec<Row> = rows.fetch_all(&mut *session.connection).await?;
    rows.into_iter().map(|row| summary(session, row)).collect()
}

pub(super) fn summary<C: Conn>(session: &SqliteSession<C>, row: Row) -> Result<RunSummary> {
    let (run, flow, status, remaining_steps, started_at, ended_at) = row;
    Ok(RunSummary {
        id: RunId(run),
        flow: session.version(flow)?.slug().to_string(),
        status: word(RunStatus::from_word(&status), &status)?,
        remaining_steps,
        started_at: Timestamp::from_micros(started_at),
        ended_at: ended_at.map(Timestamp::from_micros),
    })
}

pub(super) async fn open_work<C: Conn>(
    session: &mut SqliteSession<C>,
    version: &Version,
) -> Result<OpenWork> {
    let query = sqlx::query_as(OPEN).bind(version.id);
    let (runs, tasks, since): (i64, i64, Option<i64>) =
        query.fetch_one(&mut *session.connection).await?;
    Ok(OpenWork {
        runs: runs.unsigned_abs(),
        tasks: tasks.unsigned_abs(),
        since: since.map(Timestamp::from_micros),
    })
}
