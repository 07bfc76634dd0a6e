//! Runs, their steps and tasks.

use std::time::Duration;

use pgflow_machine::{RunId, StepStatus, TaskStatus};
use serde_json::json;
use uuid::Uuid;

use crate::error::Result;
use crate::load::word;
use crate::prune::prunable;
use crate::{Sqlite, clock, list};
use pgflow_backend::backend::{RunSummary, StepTimes, TaskQuery, TaskRecord};
use pgflow_backend::store::upkeep::{StoredTask, micros, times_of};

const BETWEEN: &str = "
    select run_id, flow, status, remaining_steps, started_at, ended_at
      from pgflow_runs where run_id between ?1 and ?2 order by run_id limit ?3";

/// `cross join` says in which order to look: from the run to its steps.
pub(crate) const STEP_TIMES: &str = "
    select s.slug, s.status, s.started_at, s.ended_at
      from pgflow_runs r
      cross join pgflow_steps s on s.id >= r.id << 16 and s.id < (r.id + 1) << 16
     where r.run_id = ? order by s.id";

/// Where the tasks of a step are: from the first id to before the last, and when the step began.
pub(crate) const PLACE: &str = "
    select s.first_task, s.first_task + s.tasks, s.started_at
      from pgflow_runs r
      cross join pgflow_steps s on s.id >= r.id << 16 and s.id < (r.id + 1) << 16
     where r.run_id = ?1 and s.slug = ?2 and s.first_task is not null";

/// In the order of the ids, so that a page of a wide map reads no more than itself.
pub(crate) const TASKS: &str = "
    select task_index, status, attempts - refunded, losses, worker, error,
           case when status = 'queued' and yielded_attempt = attempts then yield_reason end,
           ready_at, started_at, lost_at
      from pgflow_tasks
     where id > ?1 and id < ?2 and (?3 = '[]' or status in (select value from json_each(?3)))
     order by id limit ?4";

const PRUNABLE: &str = concat!("select count(*) from (select 1 ", prunable!(), ")");

/// A row of [`TASKS`].
type TaskRow = (
    u32,
    String,
    u32,
    u32,
    Option<Uuid>,
    Option<String>,
    Option<String>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
);

pub(super) async fn between(
    sqlite: &Sqlite,
    first: RunId,
    last: RunId,
    max: u32,
) -> Result<Vec<RunSummary>> {
    let mut session = sqlite.session(sqlite.connections.read().await?).await?;
    let query = sqlx::query_as(BETWEEN).bind(first.0).bind(last.0).bind(max);
    let rows: Vec<list::Row> = query.fetch_all(&mut *session.connection).await?;
    rows.into_iter().map(|row| list::summary(&session, row)).collect()
}

pub(super) async fn step_times(sqlite: &Sqlite, run: RunId) -> Result<Vec<StepTimes>> {
    let mut tx = sqlite.connections.read().await?;
    let query = sqlx::query_as(STEP_TIMES).bind(run.0);
    let rows: Vec<(String, String, Option<i64>, Option<i64>)> = query.fetch_all(&mut *tx).await?;
    let times = |(slug, status, started_at, ended_at): (String, String, _, _)| {
        let status = word(StepStatus::from_word(&status), &status)?;
        let (started_at, ended_at) = times_of(status, started_at, ended_at);
        Ok(StepTimes { slug, started_at, ended_at })
    };
    rows.into_iter().map(times).collect()
}

pub(super) async fn tasks(
    sqlite: &Sqlite,
    run: RunId,
    step: &str,
    query: &TaskQuery,
) -> Result<Vec<TaskRecord>> {
    let mut tx = sqlite.connections.read().await?;
    let place = sqlx::query_as(PLACE).bind(run.0).bind(step).fetch_optional(&mut *tx);
    let place: Option<(i64, i64, Option<i64>)> = place.await?;
    let Some((first, end, began)) = place else { return Ok(Vec::new()) };
    let rows = sqlx::query_as(TASKS).bind(first + query.after.map_or(-1, i64::from)).bind(end);
    let rows = rows.bind(json!(query.statuses).to_string()).bind(query.max.min(TaskQuery::MOST));
    let rows: Vec<TaskRow> = rows.fetch_all(&mut *tx).await?;
    rows.into_iter().map(|row| task(row, began)).collect()
}

fn task(row: TaskRow, step_began: Option<i64>) -> Result<TaskRecord> {
    let (index, status, attempts, losses, worker, error, yielded, ready_at, started_at, lost_at) =
        row;
    let status = word(TaskStatus::from_word(&status), &status)?;
    let task = StoredTask {
        index,
        status,
        attempts,
        losses,
        worker,
        error,
        yielded,
        ready_at,
        started_at,
        lost_at,
        step_began,
    };
    Ok(task.into())
}

pub(super) async fn prunable(sqlite: &Sqlite, older_than: Duration, max: u64) -> Result<u64> {
    let mut tx = sqlite.connections.read().await?;
    let now = clock::now(&mut tx).await?;
    let cutoff = now.saturating_sub(micros(older_than));
    let max = i64::try_from(max).unwrap_or(i64::MAX);
    let count = sqlx::query_scalar(PRUNABLE).bind(cutoff).bind(max).fetch_one(&mut *tx);
    let count: i64 = count.await?;
    Ok(count.unsigned_abs())
}
