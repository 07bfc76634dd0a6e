//! How runs and steps did lately.

use std::time::Duration;

use pgflow_machine::{RunId, RunStatus, StepStatus};
use uuid::Uuid;

use crate::error::Result;
use crate::json_rows::{Hex, json_rows};
use crate::load::word;
use crate::{MySql, list};
use pgflow_backend::backend::{Activity, Sample, StepStatistics};
use pgflow_backend::store::upkeep::{self, ago, newest, sampled};

const NEWEST: &str = "
    select id, started_at from pgflow_runs force index (pgflow_runs_listed)
     where flow = ? and status = ? and started_at >= ? order by started_at desc, id desc limit ?";

const ENDS: &str = "
    select s.step, s.status, s.started_at, s.ended_at
      from json_table(?, '$[*]' columns (run char(32) path '$')) k
      straight_join pgflow_steps s force index (primary) on s.run = unhex(k.run)";

/// A row of [`ENDS`].
type End = (u16, String, Option<i64>, Option<i64>);

pub(super) async fn step_statistics(
    mysql: &MySql,
    version: &str,
    window: Duration,
) -> Result<Vec<StepStatistics>> {
    let mut session = mysql.reading().await?;
    let Some(version) = session.catalog.by_slug(version).cloned() else { return Ok(Vec::new()) };
    let since = ago(session.now, window).micros();
    let mut found: Vec<(Uuid, i64)> = Vec::new();
    for status in RunStatus::ALL {
        let query = sqlx::query_as::<_, (Uuid, i64)>(NEWEST).bind(version.id).bind(status.word());
        let query = query.bind(since).bind(Sample::RUNS_WITH_STEPS);
        found.extend(query.fetch_all(session.connection()).await?);
    }
    let runs: Vec<_> = newest(found).into_iter().map(|run| Hex(RunId(run))).collect();
    let rows = sqlx::query_as(ENDS).bind(json_rows(&runs)?);
    let rows: Vec<End> = rows.fetch_all(session.connection()).await?;
    let step = |(step, status, started_at, ended_at): End| {
        let status = word(StepStatus::from_word(&status), &status)?;
        Ok((usize::from(step), status, started_at, ended_at))
    };
    let steps = rows.into_iter().map(step).collect::<Result<_>>()?;
    Ok(upkeep::statistics(&version, steps))
}

pub(super) async fn activity(
    mysql: &MySql,
    flows: &[String],
    window: Duration,
) -> Result<Activity> {
    let mut session = mysql.reading().await?;
    let since = ago(session.now, window);
    let runs = list::list(&mut session, &sampled(flows, since)).await?;
    Ok(upkeep::activity(&runs, since, session.now))
}
