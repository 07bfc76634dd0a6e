//! Runs and their events, read.

use pgflow_machine::{Entry, Event, Payload, RunId, RunStatus, SkipReason, StepStatus, Timestamp};
use serde_json::Value;
use sqlx::SqliteConnection;

use super::Sqlite;
use super::definitions::{SPAN, place};
use super::error::{Result, broken};
use super::inputs::parse;
use super::load::word;
use super::row::row;
use crate::backend::{Parts, RunRecord, StepRecord};

const RUN: &str = "
    select r.id, f.slug as flow, r.status, r.remaining_steps, r.started_at, r.ended_at, r.cancel_reason,
           d.input, d.output
      from pgflow_runs r join pgflow_flows f on f.id = r.flow join pgflow_run_data d on d.run = r.id
     where r.run_id = ?";

const STEPS: &str = "
    select slug, status, remaining_deps, tasks, remaining_tasks, iif(?2, output, null) as output, error,
           skip_reason
      from pgflow_steps where id >= ?1 << 16 and id < (?1 + 1) << 16 order by id";

const EVENTS: &str = "
    select seq, at, entry from pgflow_events where run = ? and seq > ? order by seq limit ?";

row! {
    struct RunRow {
        id: i64,
        flow: String,
        status: String,
        remaining_steps: u32,
        started_at: i64,
        ended_at: Option<i64>,
        cancel_reason: Option<String>,
        input: String,
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

pub(super) async fn run(sqlite: &Sqlite, id: RunId, parts: Parts) -> Result<Option<RunRecord>> {
    let mut tx = sqlite.connections.read().await?;
    let row: Option<RunRow> = sqlx::query_as(RUN).bind(id.0).fetch_optional(&mut *tx).await?;
    let Some(row) = row else { return Ok(None) };
    let steps = match parts {
        Parts::Run => Vec::new(),
        Parts::Steps => steps(&mut tx, row.id, false).await?,
        Parts::Outputs => steps(&mut tx, row.id, true).await?,
    };
    Ok(Some(RunRecord {
        id,
        flow: row.flow,
        status: word(RunStatus::from_word(&row.status), &row.status)?,
        input: parse(&row.input)?,
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
    outputs: bool,
) -> Result<Vec<StepRecord>> {
    let query = sqlx::query_as(STEPS).bind(run).bind(outputs);
    let rows: Vec<StepRow> = query.fetch_all(connection).await?;
    let step = |row: StepRow| {
        let reason = row.skip_reason.map(|text| word(SkipReason::from_word(&text), &text));
        Ok(StepRecord {
            slug: row.slug,
            status: word(StepStatus::from_word(&row.status), &row.status)?,
            remaining_deps: row.remaining_deps,
            tasks: row.tasks,
            remaining_tasks: row.remaining_tasks,
            output: row.output.as_deref().map(parse).transpose()?,
            error: row.error,
            skip_reason: reason.transpose()?,
        })
    };
    rows.into_iter().map(step).collect()
}

pub(super) async fn events(sqlite: &Sqlite, id: RunId, after: u64, max: u32) -> Result<Vec<Event>> {
    let mut tx = sqlite.connections.read().await?;
    let query = sqlx::query_as("select id, flow from pgflow_runs where run_id = ?").bind(id.0);
    let run: Option<(i64, i64)> = query.fetch_optional(&mut *tx).await?;
    let Some((run, flow)) = run else { return Ok(Vec::new()) };
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let query = sqlx::query_as(EVENTS).bind(run).bind(after).bind(max);
    let rows: Vec<(i64, i64, String)> = query.fetch_all(&mut *tx).await?;
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let session = sqlite.memory.session(&mut tx).await?;
    let plan = &session.definitions.by_id(flow)?.plan;
    let mut events = Vec::with_capacity(rows.len());
    for (seq, at, entry) in rows {
        let entry: Entry = serde_json::from_str(&entry).map_err(broken)?;
        let value = payload(&mut tx, run, &entry).await?;
        events.push(Event {
            seq: seq.unsigned_abs(),
            at: Timestamp::from_micros(at),
            what: entry.happened(plan, |_| value),
        });
    }
    Ok(events)
}

/// What an entry leaves out.
async fn payload(connection: &mut SqliteConnection, run: i64, entry: &Entry) -> Result<Value> {
    let payload = match entry {
        Entry::RunStarted => Payload::RunInput,
        Entry::RunCompleted => Payload::RunOutput,
        Entry::StepCompleted { step } => Payload::StepOutput(*step),
        _ => return Ok(Value::Null),
    };
    let (sql, id) = match payload {
        Payload::RunInput => ("select input from pgflow_run_data where run = ?", run),
        Payload::RunOutput => ("select output from pgflow_run_data where run = ?", run),
        Payload::StepOutput(step) => {
            ("select output from pgflow_steps where id = ?", run * SPAN + place(step))
        }
    };
    let text: Option<String> = sqlx::query_scalar(sql).bind(id).fetch_one(connection).await?;
    parse(text.as_deref().unwrap_or("null"))
}
