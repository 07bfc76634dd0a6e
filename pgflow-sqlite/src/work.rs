//! What the tasks of started steps are doing.

use pgflow_machine::{StepStatus, TaskStatus, Timestamp, Version, WorkerId};
use sqlx::SqliteConnection;
use uuid::Uuid;

use super::definitions::{SPAN, queue};
use super::error::Result;
use pgflow_backend::backend::{StepRecord, StepWork, TaskWork};

const TASKS: &str = "
    select t.status, t.attempts - t.refunded, t.worker, t.error,
           case when t.status = 'queued' and t.yielded_attempt = t.attempts then t.yield_reason end, t.ready_at
      from pgflow_steps s
      join pgflow_tasks t on t.id >= s.first_task and t.id < s.first_task + s.tasks
     where s.id = ? order by t.id";

/// The same of some tasks of a wide map: of those first and last in its queue, and of those that workers have.
const SOME: &str = "
    select t.status, t.attempts - t.refunded, t.worker, t.error,
           case when t.status = 'queued' and t.yielded_attempt = t.attempts then t.yield_reason end, t.ready_at
      from pgflow_tasks t
     where t.step = ?1 and t.id in (
       select id from (select id from pgflow_tasks where queue = ?2 and ready_at is not null order by ready_at limit ?3)
       union
       select id from (select id from pgflow_tasks where queue = ?2 and ready_at is not null order by ready_at desc limit ?3)
       union
       select id from (select id from pgflow_tasks where lost_at is not null order by lost_at desc limit ?3))
     order by t.id";

/// A row of [`TASKS`] or [`SOME`].
type Row = (String, u32, Option<Uuid>, Option<String>, Option<String>, Option<i64>);

/// Adds that to the steps of a run that goes on.
pub(super) async fn add(
    connection: &mut SqliteConnection,
    run: i64,
    version: &Version,
    steps: &mut [StepRecord],
) -> Result<()> {
    for (number, (step, id)) in steps.iter_mut().zip(run * SPAN..).enumerate() {
        if step.status != StepStatus::Started {
            continue;
        }
        let query = if step.tasks.unwrap_or(0) <= StepWork::MOST_TASKS {
            sqlx::query_as(TASKS).bind(id)
        } else {
            sqlx::query_as(SOME).bind(id).bind(queue(version, number)).bind(StepWork::SOME_TASKS)
        };
        let rows = query.fetch_all(&mut *connection).await?;
        step.work = Some(StepWork::of(rows.into_iter().map(task)));
    }
    Ok(())
}

fn task((status, attempts, worker, error, yielded, ready_at): Row) -> TaskWork {
    let is_held = status == TaskStatus::Started.word();
    TaskWork {
        attempts,
        worker: worker.filter(|_| is_held).map(WorkerId),
        error,
        yielded,
        ready_at: ready_at.map(Timestamp::from_micros),
        is_completed: status == TaskStatus::Completed.word(),
    }
}
