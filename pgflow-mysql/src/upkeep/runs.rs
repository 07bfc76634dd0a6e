//! Runs, their steps and tasks.

use std::time::Duration;

use pgflow_machine::{RunId, StepStatus, TaskStatus};
use uuid::Uuid;

use crate::error::Result;
use crate::load::word;
use crate::recovery::prunable;
use crate::{MySql, list};
use pgflow_backend::backend::{RunSummary, StepTimes, TaskQuery, TaskRecord};
use pgflow_backend::store::upkeep::{StoredTask, ago, times_of};

const BETWEEN: &str = "
    select id, flow, status, remaining_steps, started_at, ended_at
      from pgflow_runs where id between ? and ? order by id limit ?";

const STEP_TIMES: &str = "
    select r.flow, s.step, s.status, s.started_at, s.ended_at
      from pgflow_runs r straight_join pgflow_steps s force index (primary) on s.run = r.id
     where r.id = ? order by s.step";

const TASKS: &str = "
    select t.task_index, t.status, cast(t.attempts - t.refunded as signed), t.losses, t.worker, t.error,
           case when t.status = 'queued' and t.yielded_attempt = t.attempts then t.yield_reason end,
           t.ready_at,
           t.started_at, t.lost_at, s.started_at
      from pgflow_steps s straight_join pgflow_tasks t force index (primary) on t.run = s.run and t.step = s.step
     where s.run = ? and s.step = ? and t.task_index >= ? and (? = '' or find_in_set(t.status, ?))
     order by t.task_index limit ?";

const PRUNABLE: &str = concat!("select count(*) from (select 1 ", prunable!(), " limit ?) r");

type TimeColumns = (i64, u16, String, Option<i64>, Option<i64>);

type TaskColumns = (
    u32,
    String,
    i64,
    u32,
    Option<Uuid>,
    Option<String>,
    Option<String>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
);

pub(super) async fn between(
    mysql: &MySql,
    first: RunId,
    last: RunId,
    max: u32,
) -> Result<Vec<RunSummary>> {
    let mut session = mysql.reading().await?;
    let query = sqlx::query_as(BETWEEN).bind(first.0).bind(last.0).bind(max);
    let rows: Vec<list::Columns> = query.fetch_all(session.connection()).await?;
    rows.into_iter().map(|row| list::summary(&session, row)).collect()
}

pub(super) async fn step_times(mysql: &MySql, run: RunId) -> Result<Vec<StepTimes>> {
    let mut session = mysql.reading().await?;
    let query = sqlx::query_as(STEP_TIMES).bind(run.0);
    let rows: Vec<TimeColumns> = query.fetch_all(session.connection()).await?;
    let mut times = Vec::new();
    for (flow, step, status, started_at, ended_at) in rows {
        let slug = session.version(flow)?.plan.step(step.into()).slug.to_string();
        let status = word(StepStatus::from_word(&status), &status)?;
        let (started_at, ended_at) = times_of(status, started_at, ended_at);
        times.push(StepTimes { slug, started_at, ended_at });
    }
    Ok(times)
}

pub(super) async fn tasks(
    mysql: &MySql,
    run: RunId,
    step: &str,
    query: &TaskQuery,
) -> Result<Vec<TaskRecord>> {
    let mut session = mysql.reading().await?;
    let flow = sqlx::query_scalar("select flow from pgflow_runs where id = ?").bind(run.0);
    let flow: Option<i64> = flow.fetch_optional(session.connection()).await?;
    let Some(flow) = flow else { return Ok(Vec::new()) };
    let Some(step) = session.version(flow)?.plan.index(step) else { return Ok(Vec::new()) };
    let statuses = query.statuses.iter().map(|status| status.word()).collect::<Vec<_>>().join(",");
    let first = query.after.map_or(0, |after| after.saturating_add(1));
    let rows = sqlx::query_as(TASKS).bind(run.0).bind(step as u64).bind(first);
    let rows = rows.bind(&statuses).bind(&statuses).bind(query.max.min(TaskQuery::MOST));
    let rows: Vec<TaskColumns> = rows.fetch_all(session.connection()).await?;
    rows.into_iter().map(task).collect()
}

fn task(columns: TaskColumns) -> Result<TaskRecord> {
    let (
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
        began,
    ) = columns;
    let status = word(TaskStatus::from_word(&status), &status)?;
    let task = StoredTask {
        index,
        status,
        attempts: u32::try_from(attempts).unwrap_or_default(),
        losses,
        worker,
        error,
        yielded,
        ready_at,
        started_at,
        lost_at,
        step_began: began,
    };
    Ok(task.into())
}

pub(super) async fn prunable(mysql: &MySql, older_than: Duration, max: u64) -> Result<u64> {
    let mut session = mysql.reading().await?;
    let cutoff = ago(session.now, older_than).micros();
    let query = sqlx::query_scalar(PRUNABLE).bind(cutoff).bind(max);
    let count: i64 = query.fetch_one(session.connection()).await?;
    Ok(count.unsigned_abs())
}
