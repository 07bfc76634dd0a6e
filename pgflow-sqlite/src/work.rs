//! What the tasks of started steps are doing.

use pgflow_machine::{StepStatus, TaskStatus, Timestamp, WorkerId};
use sqlx::SqliteConnection;
use uuid::Uuid;

use super::definitions::SPAN;
use super::error::Result;
use pgflow_backend::backend::{StepRecord, StepWork, TaskWork};

const TASKS: &str = "
    select t.status, t.attempts - t.refunded, t.worker, t.error,
           case when t.status = 'queued' and t.yielded_attempt = t.attempts then t.yield_reason end, t.ready_at
      from pgflow_steps s
      join pgflow_tasks t on t.id >= s.first_task and t.id < s.first_task + s.tasks
     where s.id = ? order by t.id";

/// A row of [`TASKS`].
type Row = (String, u32, Option<Uuid>, Option<String>, Option<String>, Option<i64>);

/// Adds that to the steps of a run that goes on.
pub(super) async fn add(
    connection: &mut SqliteConnection,
    run: i64,
    steps: &mut [StepRecord],
) -> Result<()> {
    for (step, id) in steps.iter_mut().zip(run * SPAN..) {
        let tasks = step.tasks.unwrap_or(0);
        if step.status == StepStatus::Started && tasks <= StepWork::MOST_TASKS {
            let rows = sqlx::query_as(TASKS).bind(id).fetch_all(&mut *connection).await?;
            step.work = Some(StepWork::of(rows.into_iter().map(task)));
        }
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
