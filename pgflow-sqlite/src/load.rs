//! Rows, as commands ask for them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use pgflow_machine::{
    Needs, Output, Rows, RunId, RunRow, RunState, RunStatus, SkipReason, StepState, StepStatus,
    TaskKey, TaskRef, TaskRow, TaskStatus, Ties, Timestamp,
};
use serde_json::json;
use uuid::Uuid;

use super::definitions::{SPAN, step_in};
use super::error::{Result, broken};
use super::payloads::parse;
use super::row::row;
use super::session::{Conn, RunRowIds, SqliteSession};

pub(super) const RUNS: &str = "
    select r.id, r.run_id, r.flow, r.status, r.remaining_steps, r.last_seq, r.waits, r.awaited
      from json_each(?1) k cross join pgflow_runs r on r.run_id = unhex(k.value)";

pub(super) const STEPS: &str = "
    select s.id, s.status, s.remaining_deps, s.tasks, s.remaining_tasks, s.first_task, s.skip_reason, s.error
      from json_each(?1) k cross join pgflow_steps s on s.id >= k.value << 16 and s.id < (k.value + 1) << 16
     order by s.id";

pub(super) const TASKS: &str = "
    select t.step, t.task_index, t.status, t.attempts, t.refunded, t.losses, t.ready_at, t.lost_at
      from json_each(?1) k cross join pgflow_tasks t on t.id = k.value";

/// Tasks of a run that a worker has, that wait or that have failed.
pub(super) const ATTEMPTED: &str = "
    select t.step, t.task_index, t.status, t.attempts, t.refunded, t.losses, t.ready_at, t.lost_at
      from pgflow_steps s cross join pgflow_tasks t on t.id >= s.first_task and t.id < s.first_task + s.tasks
     where s.id >= ?1 << 16 and s.id < (?1 + 1) << 16 and t.status in ('started', 'waiting', 'failed')";

const MAP_OUTPUTS: &str = "
    select task_index, output from pgflow_tasks where id >= ?1 and id < ?1 + ?2 and status = 'completed'";

/// Bytes that steps have put out, or their tasks so far.
pub(super) const WEIGHTS: &str = "
    select s.id, coalesce(octet_length(s.output), (
             select sum(octet_length(t.output)) from pgflow_tasks t
              where t.id >= s.first_task and t.id < s.first_task + s.tasks), 0)
      from json_each(?1) k cross join pgflow_steps s on s.id = k.value";

/// A row of [`RUNS`].
type FoundRun = (i64, Uuid, i64, String, u32, i64, bool, bool);

row! {
    struct FoundStep {
        id: i64,
        status: String,
        remaining_deps: u32,
        tasks: Option<u32>,
        remaining_tasks: Option<u32>,
        first_task: Option<i64>,
        skip_reason: Option<String>,
        error: Option<String>,
    }
}

row! {
    struct FoundTask {
        step: i64,
        task_index: u32,
        status: String,
        attempts: u32,
        refunded: u32,
        losses: u32,
        ready_at: Option<i64>,
        lost_at: Option<i64>,
    }
}

pub(super) async fn load<C: Conn>(
    session: &mut SqliteSession<C>,
    needs: &Needs,
    rows: &mut Rows,
) -> Result<()> {
    // Payloads are asked for by themselves.
    let Needs { runs, tasks, attempted, payloads: _, map_outputs, weights } = needs;
    if !runs.is_empty() {
        load_runs(session, runs, rows).await?;
    }
    if !tasks.is_empty() {
        load_tasks(session, tasks, rows).await?;
    }
    for run in attempted {
        let query = sqlx::query_as(ATTEMPTED).bind(session.place(*run)?.id);
        let found: Vec<FoundTask> = query.fetch_all(&mut *session.connection).await?;
        for found in found {
            let (step, index) = (step_in(found.step), found.task_index);
            rows.tasks.insert(TaskRef { run: *run, step, index }, task(&found)?);
        }
    }
    for &(run, step) in map_outputs {
        load_map_outputs(session, run, step, rows).await?;
    }
    if !weights.is_empty() {
        load_weights(session, weights, rows).await?;
    }
    Ok(())
}

async fn load_runs<C: Conn>(
    session: &mut SqliteSession<C>,
    wanted: &BTreeSet<RunId>,
    rows: &mut Rows,
) -> Result<()> {
    let names: Vec<_> = wanted.iter().map(|run| run.0.simple().to_string()).collect();
    let query = sqlx::query_as(RUNS).bind(json!(names).to_string());
    let found: Vec<FoundRun> = query.fetch_all(&mut *session.connection).await?;
    if found.is_empty() {
        return Ok(());
    }
    let ids: Vec<i64> = found.iter().map(|row| row.0).collect();
    let query = sqlx::query_as(STEPS).bind(json!(ids).to_string());
    let steps: Vec<FoundStep> = query.fetch_all(&mut *session.connection).await?;
    let mut by_run: BTreeMap<i64, Vec<FoundStep>> = BTreeMap::new();
    for step in steps {
        by_run.entry(step.id / SPAN).or_default().push(step);
    }
    for row in found {
        let (id, steps) = (RunId(row.1), by_run.remove(&row.0).unwrap_or_default());
        let first_tasks = steps.iter().map(|step| step.first_task).collect();
        let place = RunRowIds { id: row.0, last_seq: row.5, first_tasks };
        if row.6 || row.7 {
            rows.ties.insert(id, Ties { waits: row.6, awaited: row.7 });
        }
        rows.runs.insert(id, run(session, row, steps)?);
        session.ids.insert(id, place.id);
        session.places.insert(id, place);
    }
    Ok(())
}

fn run<C: Conn>(
    session: &SqliteSession<C>,
    row: FoundRun,
    steps: Vec<FoundStep>,
) -> Result<RunRow> {
    let (id, _, flow, status, remaining_steps, ..) = row;
    let version = Arc::clone(session.version(flow)?);
    let is_whole = steps.iter().map(|row| step_in(row.id)).eq(0..version.plan.steps().len());
    if !is_whole {
        return Err(broken(format!("steps of run {id} are missing")));
    }
    let steps = steps.into_iter().map(step).collect::<Result<_>>()?;
    let status = word(RunStatus::from_word(&status), &status)?;
    Ok(RunRow { version, state: RunState { status, remaining_steps, steps, input: None } })
}

fn step(row: FoundStep) -> Result<StepState> {
    let status = word(StepStatus::from_word(&row.status), &row.status)?;
    let skip_reason = row.skip_reason.map(|text| word(SkipReason::from_word(&text), &text));
    Ok(StepState {
        status,
        remaining_deps: row.remaining_deps,
        initial_tasks: row.tasks,
        remaining_tasks: row.remaining_tasks,
        error: row.error,
        skip_reason: skip_reason.transpose()?,
        output: if status == StepStatus::Completed { Output::Stored } else { Output::None },
    })
}

async fn load_tasks<C: Conn>(
    session: &mut SqliteSession<C>,
    wanted: &BTreeSet<TaskKey>,
    rows: &mut Rows,
) -> Result<()> {
    let mut refs: HashMap<(i64, u32), TaskRef> = HashMap::with_capacity(wanted.len());
    let mut ids = Vec::with_capacity(wanted.len());
    for at in wanted.iter().filter_map(|key| rows.find(key)) {
        let place = session.place(at.run)?;
        let tasks = rows.runs[&at.run].state.steps[at.step].initial_tasks.unwrap_or(0);
        if let Some(id) = place.task_id(at).filter(|_| at.index < tasks) {
            refs.insert((place.step_id(at.step), at.index), at);
            ids.push(id);
        }
    }
    let query = sqlx::query_as(TASKS).bind(json!(ids).to_string());
    let found: Vec<FoundTask> = query.fetch_all(&mut *session.connection).await?;
    for row in found {
        if let Some(at) = refs.get(&(row.step, row.task_index)) {
            rows.tasks.insert(*at, task(&row)?);
        }
    }
    Ok(())
}

fn task(row: &FoundTask) -> Result<TaskRow> {
    Ok(TaskRow {
        status: word(TaskStatus::from_word(&row.status), &row.status)?,
        attempts: row.attempts,
        refunded: row.refunded,
        losses: row.losses,
        ready_at: row.ready_at.map(Timestamp::from_micros),
        lost_after: row.lost_at.map(Timestamp::from_micros),
    })
}

async fn load_map_outputs<C: Conn>(
    session: &mut SqliteSession<C>,
    run: RunId,
    step: usize,
    rows: &mut Rows,
) -> Result<()> {
    let tasks = rows.runs.get(&run).and_then(|run| run.state.steps[step].initial_tasks);
    let query = sqlx::query_as(MAP_OUTPUTS).bind(session.place(run)?.first_tasks[step]);
    let found: Vec<(u32, String)> =
        query.bind(tasks.unwrap_or(0)).fetch_all(&mut *session.connection).await?;
    let outputs = found.into_iter().map(|(index, text)| Ok((index, parse(&text)?)));
    rows.map_outputs.insert((run, step), outputs.collect::<Result<_>>()?);
    Ok(())
}

async fn load_weights<C: Conn>(
    session: &mut SqliteSession<C>,
    wanted: &[(RunId, usize)],
    rows: &mut Rows,
) -> Result<()> {
    let mut steps = HashMap::with_capacity(wanted.len());
    for &(run, step) in wanted {
        steps.insert(session.place(run)?.step_id(step), (run, step));
    }
    let ids: Vec<_> = steps.keys().collect();
    let query = sqlx::query_as(WEIGHTS).bind(json!(ids).to_string());
    let found: Vec<(i64, i64)> = query.fetch_all(&mut *session.connection).await?;
    let weight = |(id, bytes): (i64, i64)| {
        Some((*steps.get(&id)?, usize::try_from(bytes).unwrap_or(usize::MAX)))
    };
    rows.weights.extend(found.into_iter().filter_map(weight));
    Ok(())
}

/// A word of an enum, or an error.
pub(super) fn word<T>(known: Option<T>, text: &str) -> Result<T> {
    known.ok_or_else(|| broken(format!("there is no status `{text}`")))
}
