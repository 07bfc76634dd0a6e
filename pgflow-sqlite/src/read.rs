//! Runs and their events, read.

use std::sync::Arc;

use pgflow_machine::{Entry, Plan, PlanStep, RunId, RunStatus, SkipReason, StepStatus, Timestamp};
use sqlx::SqliteConnection;

use super::error::{Result, broken};
use super::load::word;
use super::payloads::parse;
use super::row::row;
use super::session::{Conn, SqliteSession};
use super::work;
use pgflow_backend::backend::{Parts, RunRecord, StepRecord};
use pgflow_backend::store::Logged;

const RUN: &str = "
    select r.id, r.flow, r.status, r.remaining_steps, r.started_at, r.ended_at, r.cancel_reason,
           iif(?2, d.input, null) as input, iif(?2, d.output, null) as output
      from pgflow_runs r join pgflow_run_data d on d.run = r.id
     where r.run_id = ?1";

const STEPS: &str = "
    select slug, status, remaining_deps, tasks, remaining_tasks, iif(?2, output, null) as output, error,
           skip_reason
      from pgflow_steps where id >= ?1 << 16 and id < (?1 + 1) << 16 order by id";

const EVENTS: &str = "
    select seq, at, entry from pgflow_events where run = ? and seq > ? order by seq limit ?";

row! {
    struct RunRow {
        id: i64,
        flow: i64,
        status: String,
        remaining_steps: u32,
        started_at: i64,
        ended_at: Option<i64>,
        cancel_reason: Option<String>,
        input: Option<String>,
        output: Option<String>,
    }
}

row! {
    struct StepRow {
        slug: String,
        status: String,
        remaining_deps: u32,
        tasks: Option<u32>,
        remaining_tasks: Option<u32>,
        output: Option<String>,
        error: Option<String>,
        skip_reason: Option<String>,
    }
}

pub(super) async fn record<C: Conn>(
    session: &mut SqliteSession<C>,
    id: RunId,
    parts: Parts,
) -> Result<Option<RunRecord>> {
    let query = sqlx::query_as(RUN).bind(id.0).bind(parts != Parts::Steps);
    let row: Option<RunRow> = query.fetch_optional(&mut *session.connection).await?;
    let Some(row) = row else { return Ok(None) };
    let version = Arc::clone(session.version(row.flow)?);
    let connection = &mut *session.connection;
    let mut steps = match parts {
        Parts::Run => Vec::new(),
        Parts::Steps => steps(connection, row.id, &version.plan, false).await?,
        Parts::Outputs => steps(connection, row.id, &version.plan, true).await?,
    };
    if row.status == RunStatus::Started.word() {
        work::add(connection, row.id, &version, &mut steps).await?;
    }
    Ok(Some(RunRecord {
        id,
        flow: version.slug().to_string(),
        status: word(RunStatus::from_word(&row.status), &row.status)?,
        input: row.input.as_deref().map(parse).transpose()?,
        output: row.output.as_deref().map(parse).transpose()?,
        remaining_steps: row.remaining_steps,
        started_at: Timestamp::from_micros(row.started_at),
        ended_at: row.ended_at.map(Timestamp::from_micros),
        cancel_reason: row.cancel_reason,
        steps,
    }))
}

async fn steps(
    connection: &mut SqliteConnection,
    run: i64,
    plan: &Plan,
    outputs: bool,
) -> Result<Vec<StepRecord>> {
    let query = sqlx::query_as(STEPS).bind(run).bind(outputs);
    let rows: Vec<StepRow> = query.fetch_all(connection).await?;
    let step = |(row, planned): (StepRow, &PlanStep)| {
        let reason = row.skip_reason.map(|text| word(SkipReason::from_word(&text), &text));
        Ok(StepRecord {
            slug: row.slug,
            is_map: planned.is_map,
            status: word(StepStatus::from_word(&row.status), &row.status)?,
            remaining_deps: row.remaining_deps,
            tasks: row.tasks,
            remaining_tasks: row.remaining_tasks,
            output: row.output.as_deref().map(parse).transpose()?,
            error: row.error,
            skip_reason: reason.transpose()?,
            work: None,
        })
    };
    rows.into_iter().zip(plan.steps()).map(step).collect()
}

pub(super) async fn log<C: Conn>(
    session: &mut SqliteSession<C>,
    id: RunId,
    after: u64,
    max: u32,
) -> Result<Option<Logged>> {
    let query = sqlx::query_as("select id, flow from pgflow_runs where run_id = ?").bind(id.0);
    let run: Option<(i64, i64)> = query.fetch_optional(&mut *session.connection).await?;
    let Some((run, flow)) = run else { return Ok(None) };
    session.ids.insert(id, run);
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let query = sqlx::query_as(EVENTS).bind(run).bind(after).bind(max);
    let rows: Vec<(i64, i64, String)> = query.fetch_all(&mut *session.connection).await?;
    let entry = |(seq, at, entry): (i64, i64, String)| {
        let entry: Entry = serde_json::from_str(&entry).map_err(broken)?;
        Ok((seq.unsigned_abs(), Timestamp::from_micros(at), entry))
    };
    let entries = rows.into_iter().map(entry).collect::<Result<_>>()?;
    Ok(Some(Logged { version: Arc::clone(session.version(flow)?), entries }))
}
