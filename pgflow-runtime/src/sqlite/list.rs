//! Runs in a list.

use pgflow_machine::{RunId, RunStatus, Timestamp};
use serde_json::{Value, json};
use uuid::Uuid;

use super::Sqlite;
use super::error::Result;
use super::load::word;
use crate::backend::{RunQuery, RunSummary};

/// Merges the newest runs of each flow and status, so that no filter reads past runs that do not match it.
pub(super) const LIST: &str = "
    select r.run_id, r.flow, r.status, r.remaining_steps, r.started_at, r.ended_at
      from json_each(?1) q
      cross join json_each((
        select json_group_array(n.id) from (
          select id from pgflow_runs
           where flow = q.value ->> 0 and status = q.value ->> 1 and (started_at, run_id) < (?2, ?3)
           order by started_at desc, run_id desc limit ?4
        ) n
      )) k
      cross join pgflow_runs r on r.id = k.value
     order by r.started_at desc, r.run_id desc limit ?4";

/// A row of [`LIST`].
type Row = (Uuid, i64, String, u32, i64, Option<i64>);

pub(super) async fn list(sqlite: &Sqlite, query: &RunQuery) -> Result<Vec<RunSummary>> {
    let mut tx = sqlite.connections.read().await?;
    let session = sqlite.memory.session(&mut tx).await?;
    let statuses =
        if query.statuses.is_empty() { RunStatus::ALL } else { query.statuses.as_slice() };
    let versions = session.definitions.of(&query.flows);
    let ranges: Value = versions
        .iter()
        .flat_map(|version| statuses.iter().map(|status| json!([version.id, status])))
        .collect();
    let (at, run) = query.after.map_or((i64::MAX, Uuid::max()), |(at, run)| (at.micros(), run.0));
    let rows = sqlx::query_as(LIST).bind(ranges.to_string()).bind(at).bind(run).bind(query.max);
    let rows: Vec<Row> = rows.fetch_all(&mut *tx).await?;
    let summary = |(run, flow, status, remaining_steps, started_at, ended_at): Row| {
        Ok(RunSummary {
            id: RunId(run),
            flow: session.definitions.by_id(flow)?.slug().to_string(),
            status: word(RunStatus::from_word(&status), &status)?,
            remaining_steps,
            started_at: Timestamp::from_micros(started_at),
            ended_at: ended_at.map(Timestamp::from_micros),
        })
    };
    rows.into_iter().map(summary).collect()
}
