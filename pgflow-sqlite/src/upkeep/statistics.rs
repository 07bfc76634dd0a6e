//! How the newest runs did.

use std::time::Duration;

use pgflow_machine::{RunStatus, StepStatus};
use serde_json::json;

use crate::definitions::step_in;
use crate::error::Result;
use crate::load::word;
use crate::{Sqlite, list};
use pgflow_backend::backend::{Activity, Sample, StepStatistics};
use pgflow_backend::store::upkeep::{self, ago, newest, sampled};

pub(crate) const NEWEST: &str = "
    select id, started_at from pgflow_runs
     where flow = ?1 and status = ?2 and started_at >= ?3 order by started_at desc, run_id desc limit ?4";

pub(crate) const ENDS: &str = "
    select s.id, s.status, s.started_at, s.ended_at
      from json_each(?1) k cross join pgflow_steps s on s.id >= k.value << 16 and s.id < (k.value + 1) << 16";

/// A row of [`ENDS`].
type End = (i64, String, Option<i64>, Option<i64>);

pub(super) async fn step_statistics(
    sqlite: &Sqlite,
    version: &str,
    window: Duration,
) -> Result<Vec<StepStatistics>> {
    let mut session = sqlite.session(sqlite.connections.read().await?).await?;
    let Some(version) = session.catalog.by_slug(version).cloned() else { return Ok(Vec::new()) };
    let since = ago(session.now, window).micros();
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for status in RunStatus::ALL {
        let query = sqlx::query_as::<_, (i64, i64)>(NEWEST).bind(version.id).bind(status.word());
        let query = query.bind(since).bind(Sample::RUNS_WITH_STEPS);
        runs.extend(query.fetch_all(&mut *session.connection).await?);
    }
    let rows = sqlx::query_as(ENDS).bind(json!(newest(runs)).to_string());
    let rows: Vec<End> = rows.fetch_all(&mut *session.connection).await?;
    let step = |(id, status, started_at, ended_at): End| {
        let status = word(StepStatus::from_word(&status), &status)?;
        Ok((step_in(id), status, started_at, ended_at))
    };
    let steps = rows.into_iter().map(step).collect::<Result<_>>()?;
    Ok(upkeep::statistics(&version, steps))
}

pub(super) async fn activity(
    sqlite: &Sqlite,
    flows: &[String],
    window: Duration,
) -> Result<Activity> {
    let mut session = sqlite.session(sqlite.connections.read().await?).await?;
    let since = ago(session.now, window);
    let runs = list::list(&mut session, &sampled(flows, since)).await?;
    Ok(upkeep::activity(&runs, since, session.now))
}
