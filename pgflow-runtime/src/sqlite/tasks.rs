//! Rows of tasks, as far as settling looks at them.

use std::collections::HashMap;

use pgflow_machine::{StepStatus, TaskStatus};
use serde_json::{Value, json};
use sqlx::SqliteConnection;

use super::definitions::Session;
use super::error::Result;
use super::load::{Run, word};

pub(super) const LOAD: &str = "
    select t.id, t.status, t.attempts, t.refunded
      from json_each(?1) k cross join pgflow_tasks t on t.id = k.value";

pub(super) const COMPLETE: &str = "
    update pgflow_tasks
       set status = 'completed', ready_at = null, lost_at = null, output = k.value ->> 1, input = null
      from json_each(?1) k
     where pgflow_tasks.id = k.value ->> 0";

/// As [`COMPLETE`], for an output that is long enough to be worth a statement of its own.
const COMPLETE_ONE: &str = "
    update pgflow_tasks
       set status = 'completed', ready_at = null, lost_at = null, output = ?2, input = null
     where id = ?1";

/// Bytes of such an output.
const LONG: usize = 1 << 16;

/// Ends or queues again: `[id, status, ready_at, error, refunded, output]`. The error of an attempt that
/// was given back without fault is none, and keeps the one before.
pub(super) const REPLACE: &str = "
    update pgflow_tasks
       set status = k.value ->> 1, ready_at = k.value ->> 2, lost_at = null,
           started_at = case when k.value ->> 1 = 'queued' then null else started_at end,
           error = coalesce(k.value ->> 3, error), refunded = k.value ->> 4, output = k.value ->> 5
      from json_each(?1) k
     where pgflow_tasks.id = k.value ->> 0";

const DROP: &str = "
    update pgflow_tasks set ready_at = null, lost_at = null
     where id >= ?1 and id < ?1 + ?2 and (ready_at is not null or lost_at is not null)";

/// As [`Effect::Requeue`](pgflow_machine::Effect::Requeue) says; a task is lost too often after more than three
/// losses.
const REQUEUE: &str = "
    update pgflow_tasks
       set status = 'queued', ready_at = ?3, lost_at = null, started_at = null, worker = null, output = null,
           refunded = case when status = 'failed' or losses > ?4 then attempts
                           when status = 'started' then refunded + 1 else refunded end,
           losses = case when status = 'failed' or losses > ?4 then 0 else losses end
     where id >= ?1 and id < ?1 + ?2 and status <> 'completed'";

/// A task's row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) status: TaskStatus,
    pub(super) attempts: u32,
    pub(super) refunded: u32,
}

/// Tasks of a batch by id, with what became of them and is still to be written.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    rows: HashMap<i64, Task>,
    completed: Vec<Value>,
    completed_long: Vec<(i64, String)>,
    replaced: Vec<Value>,
}

impl Tasks {
    pub(super) async fn load(connection: &mut SqliteConnection, ids: &[i64]) -> Result<Self> {
        let query = sqlx::query_as(LOAD).bind(json!(ids).to_string());
        let rows: Vec<(i64, String, u32, u32)> = query.fetch_all(connection).await?;
        let row = |(id, status, attempts, refunded): (i64, String, u32, u32)| {
            let status = word(TaskStatus::from_word(&status), &status)?;
            Ok((id, Task { status, attempts, refunded }))
        };
        let rows = rows.into_iter().map(row).collect::<Result<_>>()?;
        Ok(Self { rows, ..Self::default() })
    }

    pub(super) fn get(&self, id: i64) -> Option<Task> {
        self.rows.get(&id).copied()
    }

    pub(super) fn complete(&mut self, id: i64, output: &Value) {
        self.set(id, TaskStatus::Completed);
        let output = output.to_string();
        if output.len() < LONG {
            self.completed.push(json!([id, output]));
        } else {
            self.completed_long.push((id, output));
        }
    }

    /// Ends a task with an error; an output that caused it is kept.
    pub(super) fn fail(&mut self, id: i64, error: &str, output: Option<&Value>) {
        self.replace(id, TaskStatus::Failed, None, Some(error), output);
    }

    /// Queues a task again.
    pub(super) fn queue(&mut self, id: i64, ready_at: i64, error: Option<&str>) {
        self.replace(id, TaskStatus::Queued, Some(ready_at), error, None);
    }

    /// Whether tasks are queued again.
    pub(super) fn has_queued(&self) -> bool {
        !self.replaced.is_empty()
    }

    /// Gives an attempt back.
    pub(super) fn refund(&mut self, id: i64) {
        if let Some(task) = self.rows.get_mut(&id) {
            task.refunded += 1;
        }
    }

    fn replace(
        &mut self,
        id: i64,
        status: TaskStatus,
        ready_at: Option<i64>,
        error: Option<&str>,
        output: Option<&Value>,
    ) {
        self.set(id, status);
        let refunded = self.rows.get(&id).map_or(0, |task| task.refunded);
        let output = output.map(Value::to_string);
        self.replaced.push(json!([id, status, ready_at, error, refunded, output]));
    }

    fn set(&mut self, id: i64, status: TaskStatus) {
        if let Some(task) = self.rows.get_mut(&id) {
            task.status = status;
        }
    }

    /// Writes what has not been written yet.
    pub(super) async fn flush(&mut self, connection: &mut SqliteConnection) -> Result<()> {
        for (sql, rows) in [(COMPLETE, &mut self.completed), (REPLACE, &mut self.replaced)] {
            if !rows.is_empty() {
                let rows = Value::Array(std::mem::take(rows));
                sqlx::query(sql).bind(rows.to_string()).execute(&mut *connection).await?;
            }
        }
        for (id, output) in self.completed_long.drain(..) {
            sqlx::query(COMPLETE_ONE).bind(id).bind(output).execute(&mut *connection).await?;
        }
        Ok(())
    }
}

/// Nobody may claim or take back tasks of these steps any more.
pub(super) async fn drop_tasks(
    connection: &mut SqliteConnection,
    run: &Run,
    steps: &[usize],
) -> Result<()> {
    for (first, tasks) in steps.iter().filter_map(|step| tasks_of(run, *step)) {
        sqlx::query(DROP).bind(first).bind(tasks).execute(&mut *connection).await?;
    }
    Ok(())
}

/// Queues the open tasks of a run that goes on.
pub(super) async fn requeue_tasks(
    connection: &mut SqliteConnection,
    session: &Session,
    run: &Run,
) -> Result<()> {
    let is_started = |step: &usize| run.state.steps[*step].status == StepStatus::Started;
    let started = (0..run.first_tasks.len()).filter(is_started);
    for (first, tasks) in started.filter_map(|step| tasks_of(run, step)) {
        let query = sqlx::query(REQUEUE).bind(first).bind(tasks).bind(session.now);
        query.bind(pgflow_machine::MAX_REQUEUES).execute(&mut *connection).await?;
    }
    Ok(())
}

/// The first task of a step, and how many it has.
fn tasks_of(run: &Run, step: usize) -> Option<(i64, u32)> {
    let ended = matches!(run.state.steps[step].status, StepStatus::Created | StepStatus::Completed);
    let first = run.first_tasks[step].filter(|_| !ended)?;
    Some((first, run.state.steps[step].initial_tasks?))
}
