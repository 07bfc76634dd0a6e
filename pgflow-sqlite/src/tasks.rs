//! Rows of tasks, written.

use pgflow_machine::{BULK_FROM, Places, StepState, StepStatus, TaskStatus, TaskWrite, Timestamp};
use serde_json::{Value, json};
use sqlx::SqliteConnection;

use super::error::{Result, broken};
use super::session::{Conn, RunRowIds, SqliteSession};

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

/// `[id, status, ready_at, lost_at, refunded, losses, error, output, yielded]`. Nobody has a task that is queued or waits.
pub(super) const REPLACE: &str = "
    update pgflow_tasks
       set status = k.value ->> 1, ready_at = k.value ->> 2, lost_at = k.value ->> 3,
           started_at = iif(k.value ->> 1 = 'queued', null, started_at),
           worker = iif(k.value ->> 1 in ('queued', 'waiting'), null, worker),
           refunded = k.value ->> 4, losses = k.value ->> 5,
           error = coalesce(k.value ->> 6, error), output = k.value ->> 7,
           yield_reason = coalesce(k.value ->> 8, yield_reason),
           yielded_attempt = iif(k.value ->> 8 is null, yielded_attempt, attempts)
      from json_each(?1) k
     where pgflow_tasks.id = k.value ->> 0";

const DROP: &str = "
    update pgflow_tasks set ready_at = null, lost_at = null
     where id >= ?1 and id < ?1 + ?2 and (ready_at is not null or lost_at is not null)";

const REQUEUE: &str = "
    update pgflow_tasks set ready_at = iif(task_index < ?4, ?3, ?5 + (task_index - ?4) * ?6)
     where id >= ?1 and id < ?1 + ?2 and status = 'queued'";

pub(super) async fn write<C: Conn>(
    session: &mut SqliteSession<C>,
    tasks: &[TaskWrite<'_>],
) -> Result<()> {
    let (mut completed, mut long, mut replaced) = (Vec::new(), Vec::new(), Vec::new());
    for task in tasks {
        let id = session.place(task.at.run)?.task_id(task.at);
        let id = id.ok_or_else(|| broken("a task was not loaded"))?;
        let (row, output) = (task.row, task.output.map(Value::to_string));
        match output {
            Some(output) if row.status == TaskStatus::Completed && output.len() >= LONG => {
                long.push((id, output));
            }
            output if row.status == TaskStatus::Completed => completed.push(json!([id, output])),
            output => {
                let [ready_at, lost_at] =
                    [row.ready_at, row.lost_after].map(|at| at.map(Timestamp::micros));
                replaced.push(json!([
                    id,
                    row.status,
                    ready_at,
                    lost_at,
                    row.refunded,
                    row.losses,
                    task.error,
                    output,
                    task.yielded
                ]));
            }
        }
    }
    for (sql, rows) in [(COMPLETE, completed), (REPLACE, replaced)] {
        if !rows.is_empty() {
            let query = sqlx::query(sql).bind(Value::Array(rows).to_string());
            query.execute(&mut *session.connection).await?;
        }
    }
    for (id, output) in long {
        let query = sqlx::query(COMPLETE_ONE).bind(id).bind(output);
        query.execute(&mut *session.connection).await?;
    }
    Ok(())
}

/// Nobody may claim or take back tasks of this step any more.
pub(super) async fn drop_tasks(
    connection: &mut SqliteConnection,
    place: &RunRowIds,
    step: usize,
    state: &StepState,
) -> Result<()> {
    if let Some((first, tasks)) = range(place, step, state) {
        sqlx::query(DROP).bind(first).bind(tasks).execute(connection).await?;
    }
    Ok(())
}

/// Queued tasks of this step may be claimed again.
pub(super) async fn requeue_tasks(
    connection: &mut SqliteConnection,
    place: &RunRowIds,
    step: usize,
    state: &StepState,
    places: Places,
) -> Result<()> {
    if let Some((first, tasks)) = range(place, step, state) {
        let query = sqlx::query(REQUEUE).bind(first).bind(tasks).bind(places.first.micros());
        let query = query.bind(BULK_FROM).bind(places.bulk.micros()).bind(places.ahead);
        query.execute(connection).await?;
    }
    Ok(())
}

/// The first task of a step, and how many it has, if any can be open.
fn range(place: &RunRowIds, step: usize, state: &StepState) -> Option<(i64, u32)> {
    let has_none = matches!(state.status, StepStatus::Created | StepStatus::Completed);
    let first = place.first_tasks[step].filter(|_| !has_none)?;
    Some((first, state.initial_tasks?))
}
