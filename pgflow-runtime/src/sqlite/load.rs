//! Runs as the transitions see them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pgflow_machine::{
    Output, RunId, RunState, RunStatus, SkipReason, StepState, StepStatus, TaskKey,
};
use serde_json::json;
use sqlx::SqliteConnection;
use uuid::Uuid;

use super::definitions::{SPAN, Session, Version, place, step_in};
use super::error::{Result, broken};
use super::inputs::parse;
use super::row::row;

pub(super) const RUNS: &str = "
    select r.id, r.run_id, r.flow, r.status, r.remaining_steps, r.last_seq
      from json_each(?1) k cross join pgflow_runs r on r.run_id = unhex(k.value)";

const RUNS_BY_ID: &str = "
    select r.id, r.run_id, r.flow, r.status, r.remaining_steps, r.last_seq
      from json_each(?1) k cross join pgflow_runs r on r.id = k.value";

pub(super) const STEPS: &str = "
    select s.id, s.status, s.remaining_deps, s.tasks, s.remaining_tasks, s.first_task, s.skip_reason, s.error
      from json_each(?1) k cross join pgflow_steps s on s.id >= k.value << 16 and s.id < (k.value + 1) << 16
     order by s.id";

/// A run with its steps, without payloads and tasks.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) id: i64,
    pub(super) version: Arc<Version>,
    pub(super) last_seq: i64,
    pub(super) state: RunState,
    /// Ids of the steps' first tasks.
    pub(super) first_tasks: Vec<Option<i64>>,
}

/// Runs by their ids. The order is that in which batches are settled.
pub(super) type Runs = BTreeMap<RunId, Run>;

/// A row of [`RUNS`].
type RunRow = (i64, Uuid, i64, String, u32, i64);

row! {
    struct StepRow {
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

/// Loads those of these runs that exist.
pub(super) async fn runs(
    connection: &mut SqliteConnection,
    session: &Session,
    ids: impl IntoIterator<Item = RunId>,
) -> Result<Runs> {
    let ids: BTreeSet<_> = ids.into_iter().map(|run| run.0.simple().to_string()).collect();
    let query = sqlx::query_as(RUNS).bind(json!(ids).to_string());
    let rows = query.fetch_all(&mut *connection).await?;
    with_steps(connection, session, rows).await
}

/// Loads the runs with these numbers.
pub(super) async fn runs_by_id(
    connection: &mut SqliteConnection,
    session: &Session,
    ids: &BTreeSet<i64>,
) -> Result<Runs> {
    let query = sqlx::query_as(RUNS_BY_ID).bind(json!(ids).to_string());
    let rows = query.fetch_all(&mut *connection).await?;
    with_steps(connection, session, rows).await
}

async fn with_steps(
    connection: &mut SqliteConnection,
    session: &Session,
    rows: Vec<RunRow>,
) -> Result<Runs> {
    let ids: Vec<i64> = rows.iter().map(|row| row.0).collect();
    let query = sqlx::query_as(STEPS).bind(json!(ids).to_string());
    let steps: Vec<StepRow> = query.fetch_all(connection).await?;
    let mut by_run: BTreeMap<i64, Vec<StepRow>> = BTreeMap::new();
    for step in steps {
        by_run.entry(step.id / SPAN).or_default().push(step);
    }
    let runs = rows.into_iter().map(|row| {
        let steps = by_run.remove(&row.0).unwrap_or_default();
        Ok((RunId(row.1), run(session, row, steps)?))
    });
    runs.collect()
}

fn run(session: &Session, row: RunRow, rows: Vec<StepRow>) -> Result<Run> {
    let (id, _, flow, status, remaining_steps, last_seq) = row;
    let version = Arc::clone(session.definitions.by_id(flow)?);
    let is_whole = rows.iter().map(|row| step_in(row.id)).eq(0..version.plan.steps().len());
    if !is_whole {
        return Err(broken(format!("steps of run {id} are missing")));
    }
    let first_tasks = rows.iter().map(|row| row.first_task).collect();
    let steps = rows.into_iter().map(step).collect::<Result<_>>()?;
    let status = word(RunStatus::from_word(&status), &status)?;
    let state = RunState { status, remaining_steps, steps, input: None };
    Ok(Run { id, version, last_seq, state, first_tasks })
}

fn step(row: StepRow) -> Result<StepState> {
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

/// A word of an enum, or an error.
pub(super) fn word<T>(known: Option<T>, text: &str) -> Result<T> {
    known.ok_or_else(|| broken(format!("there is no status `{text}`")))
}

impl Run {
    /// The row of a step.
    pub(super) fn step_id(&self, step: usize) -> i64 {
        self.id * SPAN + place(step)
    }

    /// The step that a task is of, and its row, if there is such a task.
    pub(super) fn task(&self, key: &TaskKey) -> Option<(usize, i64)> {
        let step = self.version.plan.index(&key.step)?;
        let first = self.first_tasks[step]?;
        let tasks = self.state.steps[step].initial_tasks?;
        (key.index < tasks).then(|| (step, first + i64::from(key.index)))
    }

    /// Reads outputs that conditions may ask for when these steps end.
    pub(super) async fn load_wanted(
        &mut self,
        connection: &mut SqliteConnection,
        ending: &[usize],
    ) -> Result<()> {
        let plan = &self.version.plan;
        for step in pgflow_machine::Turn::wanted(plan, &self.state, ending) {
            if self.state.steps[step].output != Output::Stored {
                continue;
            }
            let query = sqlx::query_scalar("select output from pgflow_steps where id = ?");
            let output: Option<String> =
                query.bind(self.step_id(step)).fetch_one(&mut *connection).await?;
            let output = parse(output.as_deref().unwrap_or("null"))?;
            self.state.steps[step].output = Output::Loaded(Arc::new(output));
        }
        Ok(())
    }
}
