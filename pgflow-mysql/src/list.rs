//! Runs in a list.

use std::ops::DerefMut;

use pgflow_backend::backend::{RunQuery, RunSummary};
use pgflow_machine::{RunId, RunStatus, Timestamp};
use sqlx::{AssertSqlSafe, MySqlConnection};
use uuid::Uuid;

use crate::error::Result;
use crate::json_rows::{Hex, json_rows};
use crate::load::word;
use crate::session::MySqlSession;

/// The newest runs of one version and status, from the end of a range of the index.
const RANGE: &str = "(select id, flow, status, remaining_steps, started_at, ended_at \
                        from pgflow_runs force index (pgflow_runs_listed) \
                       where flow = ? and status = ? and started_at >= ? and started_at <= ? \
                         and (started_at < ? or id < ?) \
                       order by started_at desc, id desc limit ?)";

const STATUSES: &str = "
    select r.id, r.flow, r.status, r.remaining_steps, r.started_at, r.ended_at
      from json_table(?, '$[*]' columns (run char(32) path '$')) k
      straight_join pgflow_runs r force index (primary) on r.id = unhex(k.run)";

pub(crate) type Columns = (Uuid, i64, String, u32, i64, Option<i64>);

/// Runs, the newest first: merged from a range for each version and status.
pub(crate) async fn list<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    query: &RunQuery,
) -> Result<Vec<RunSummary>> {
    let statuses = if query.statuses.is_empty() { RunStatus::ALL } else { &query.statuses };
    let versions = session.catalog.of(&query.flows);
    let ids = versions.iter().map(|version| version.id);
    let ranges: Vec<_> =
        ids.flat_map(|flow| statuses.iter().map(move |status| (flow, *status))).collect();
    if ranges.is_empty() || query.max == 0 {
        return Ok(Vec::new());
    }
    let (before, id) = query.after.map_or((i64::MAX, Uuid::max()), |(at, id)| (at.micros(), id.0));
    let since = query.since.map_or(i64::MIN, Timestamp::micros);
    let sql = vec![RANGE; ranges.len()].join(" union all ");
    let mut ask = sqlx::query_as(AssertSqlSafe(sql));
    for (flow, status) in ranges {
        let range = ask.bind(flow).bind(status.word()).bind(since).bind(before);
        ask = range.bind(before).bind(id).bind(query.max);
    }
    let rows: Vec<Columns> = ask.fetch_all(session.connection()).await?;
    let mut found =
        rows.into_iter().map(|row| summary(session, row)).collect::<Result<Vec<_>>>()?;
    found.sort_by_key(|run| std::cmp::Reverse((run.started_at, run.id)));
    found.dedup_by_key(|run| run.id);
    found.truncate(query.max as usize);
    Ok(found)
}

pub(crate) async fn statuses<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    runs: &[RunId],
) -> Result<Vec<RunSummary>> {
    let ids: Vec<_> = runs.iter().copied().map(Hex).collect();
    let query = sqlx::query_as(STATUSES).bind(json_rows(&ids)?);
    let rows: Vec<Columns> = query.fetch_all(session.connection()).await?;
    rows.into_iter().map(|row| summary(session, row)).collect()
}

pub(crate) fn summary<C: DerefMut<Target = MySqlConnection>>(
    session: &MySqlSession<C>,
    (id, flow, status, remaining_steps, started_at, ended_at): Columns,
) -> Result<RunSummary> {
    Ok(RunSummary {
        id: RunId(id),
        flow: session.version(flow)?.slug().to_string(),
        status: word(RunStatus::from_word(&status), &status)?,
        remaining_steps,
        started_at: Timestamp::from_micros(started_at),
        ended_at: ended_at.map(Timestamp::from_micros),
    })
}
