//! Rows as commands see them.

use std::collections::BTreeMap;
use std::ops::DerefMut;

use pgflow_machine::{
    Needs, Output, Rows, RunId, RunRow, RunState, RunStatus, SkipReason, StepState, StepStatus,
    TaskRef, TaskRow, TaskStatus, Ties, Timestamp,
};
use serde::Serialize;
use sqlx::MySqlConnection;
use uuid::Uuid;

use crate::clock::now;
use crate::error::{Result, broken};
use crate::json_rows::{Hex, json_rows};
use crate::payloads;
use crate::session::MySqlSession;

/// A statement, and the same with locks on what it reads: in the order of its rows, which is that of its parameter. MySQL
/// locks nothing beside a `json_table`, unless that is in a table of its own.
macro_rules! reading_and_locking {
    ($(#[$doc:meta])* $name:ident, $sql:expr) => {
        $(#[$doc])*
        const $name: [&str; 2] = [$sql, concat!($sql, " for update")];
    };
}

reading_and_locking!(
    RUNS,
    "select r.id, r.flow, r.status, r.remaining_steps, r.last_seq, r.waits, r.awaited
       from (select j.* from json_table(?, '$[*]' columns (run char(32) path '$')) j) k
       straight_join pgflow_runs r force index (primary) on r.id = unhex(k.run)"
);

macro_rules! steps {
    () => {
        concat!(
            "select s.run, s.step, s.status, s.remaining_deps, s.tasks, s.remaining_tasks, s.skip_reason, s.error, ",
            now!(),
            " from (select j.* from json_table(?, '$[*]' columns (run char(32) path '$')) j) k
              straight_join pgflow_steps s force index (primary) on s.run = unhex(k.run)
             order by s.run, s.step"
        )
    };
}

/// A run's lock covers its steps, except where they are seen as they were before it. The clock is read again under that lock, or what
/// happens to a run might seem to have happened before what was there when the lock was free.
const STEPS: [&str; 2] = [steps!(), concat!(steps!(), " lock in share mode")];

reading_and_locking!(
    TASKS,
    "select t.run, t.step, t.task_index, t.status, t.attempts, t.refunded, t.losses, t.ready_at, t.lost_at
       from (select j.* from json_table(?, '$[*]' columns (
              run char(32) path '$.run', step int path '$.step', task_index int path '$.task_index')) j) k
       straight_join pgflow_tasks t force index (primary) on t.run = unhex(k.run) and t.step = k.step and t.task_index = k.task_index"
);

reading_and_locking!(
    ATTEMPTED,
    "select t.run, t.step, t.task_index, t.status, t.attempts, t.refunded, t.losses, t.ready_at, t.lost_at
       from (select j.* from json_table(?, '$[*]' columns (run char(32) path '$')) j) k
       straight_join pgflow_tasks t force index (primary) on t.run = unhex(k.run) and t.status in ('started', 'waiting', 'failed')"
);

type RunColumns = (Uuid, i64, String, u32, i64, bool, bool);

type StepColumns =
    (Uuid, u16, String, u32, Option<u32>, Option<u32>, Option<String>, Option<String>, i64);

type TaskColumns = (Uuid, u16, u32, String, u32, u32, u32, Option<i64>, Option<i64>);

/// A task, as a row.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct TaskAt {
    run: Hex,
    step: usize,
    task_index: u32,
}

impl From<TaskRef> for TaskAt {
    fn from(at: TaskRef) -> Self {
        Self { run: Hex(at.run), step: at.step, task_index: at.index }
    }
}

/// Adds rows to those that are there.
pub(crate) async fn load<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    needs: &Needs,
    rows: &mut Rows,
) -> Result<()> {
    // Payloads are asked for by themselves.
    let Needs { runs, tasks, attempted, payloads: _, map_outputs, weights } = needs;
    if !runs.is_empty() {
        load_runs(session, runs.iter().copied(), rows).await?;
    }
    let tasks: Vec<_> = tasks.iter().filter_map(|key| rows.find(key)).map(TaskAt::from).collect();
    if !tasks.is_empty() {
        load_tasks(session, TASKS, json_rows(&tasks)?, rows).await?;
    }
    if !attempted.is_empty() {
        let runs: Vec<_> = attempted.iter().copied().map(Hex).collect();
        load_tasks(session, ATTEMPTED, json_rows(&runs)?, rows).await?;
    }
    if !map_outputs.is_empty() {
        rows.map_outputs.extend(payloads::map_outputs(session, map_outputs).await?);
    }
    if !weights.is_empty() {
        rows.weights.extend(payloads::weights_of(session, weights).await?);
    }
    Ok(())
}

async fn load_runs<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    ids: impl Iterator<Item = RunId>,
    rows: &mut Rows,
) -> Result<()> {
    let ids = json_rows(&ids.map(Hex).collect::<Vec<_>>())?;
    let query = sqlx::query_as(RUNS[usize::from(session.locks)]).bind(&ids);
    let found: Vec<RunColumns> = query.fetch_all(session.connection()).await?;
    if found.is_empty() {
        return Ok(());
    }
    let sql = STEPS[usize::from(session.locks && session.may_see_the_past())];
    let query = sqlx::query_as(sql).bind(&ids);
    let steps: Vec<StepColumns> = query.fetch_all(session.connection()).await?;
    let mut of_run: BTreeMap<Uuid, Vec<StepColumns>> = BTreeMap::new();
    for step in steps {
        session.now = session.now.max(Timestamp::from_micros(step.8));
        of_run.entry(step.0).or_default().push(step);
    }
    for (id, flow, status, remaining_steps, last_seq, waits, awaited) in found {
        let steps = of_run.remove(&id).unwrap_or_default();
        let version = session.version(flow)?;
        if !steps.iter().map(|step| usize::from(step.1)).eq(0..version.plan.steps().len()) {
            return Err(broken(format!("steps of run {id} are missing")));
        }
        let steps = steps.into_iter().map(step_state).collect::<Result<_>>()?;
        let status = word(RunStatus::from_word(&status), &status)?;
        let state = RunState { status, remaining_steps, steps, input: None };
        rows.runs.insert(RunId(id), RunRow { version, state });
        if waits || awaited {
            rows.ties.insert(RunId(id), Ties { waits, awaited });
        }
        session.last_seqs.insert(RunId(id), last_seq);
    }
    Ok(())
}

fn step_state(columns: StepColumns) -> Result<StepState> {
    let (_, _, status, remaining_deps, initial_tasks, remaining_tasks, skip_reason, error, _) =
        columns;
    let status = word(StepStatus::from_word(&status), &status)?;
    let skip_reason =
        skip_reason.map(|text| word(SkipReason::from_word(&text), &text)).transpose()?;
    let output = if status == StepStatus::Completed { Output::Stored } else { Output::None };
    Ok(StepState {
        status,
        remaining_deps,
        initial_tasks,
        remaining_tasks,
        error,
        skip_reason,
        output,
    })
}

async fn load_tasks<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    sql: [&'static str; 2],
    wanted: String,
    rows: &mut Rows,
) -> Result<()> {
    let query = sqlx::query_as(sql[usize::from(session.locks)]).bind(wanted);
    let found: Vec<TaskColumns> = query.fetch_all(session.connection()).await?;
    for (run, step, index, status, attempts, refunded, losses, ready_at, lost_at) in found {
        let at = TaskRef { run: RunId(run), step: step.into(), index };
        let row = TaskRow {
            status: word(TaskStatus::from_word(&status), &status)?,
            attempts,
            refunded,
            losses,
            ready_at: ready_at.map(Timestamp::from_micros),
            lost_after: lost_at.map(Timestamp::from_micros),
        };
        rows.tasks.insert(at, row);
    }
    Ok(())
}

/// A word of an enum, or an error.
pub(crate) fn word<T>(known: Option<T>, text: &str) -> Result<T> {
    known.ok_or_else(|| broken(format!("there is no status `{text}`")))
}
