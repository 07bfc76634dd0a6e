//! The published protocol: reserve messages, start their tasks, complete them one by one.

use sqlx::PgConnection;

use super::{Driver, Task, task_of};
use crate::error::{Doing, Result};

/// The reservation only; `start_tasks` sets the step's own timeout.
const RESERVE_S: i32 = 30;

pub(super) async fn claim(
    driver: &Driver,
    conn: &mut PgConnection,
    limit: u32,
) -> Result<Vec<Task>> {
    let messages: Vec<i64> = sqlx::query_scalar(
        "select msg_id from pgmq.read_with_poll(queue_name => $1, vt => $2, qty => $3, max_poll_seconds => 1, poll_interval_ms => 20)",
    )
    .bind(&driver.queue)
    .bind(RESERVE_S)
    .bind(limit.cast_signed())
    .fetch_all(&mut *conn)
    .await
    .doing("reading messages")?;
    if messages.is_empty() {
        return Ok(Vec::new());
    }
    let rows = sqlx::query(
        "select * from pgflow.start_tasks(flow_slug => $1, msg_ids => $2, worker_id => $3)",
    )
    .bind(&driver.queue)
    .bind(messages)
    .bind(driver.worker)
    .fetch_all(conn)
    .await
    .doing("starting tasks")?;
    rows.iter().map(task_of).collect::<Result<_, _>>().doing("reading started tasks")
}

pub(super) async fn settle(conn: &mut PgConnection, tasks: &[Task]) -> Result<u32> {
    let mut settled = 0;
    for task in tasks {
        let status: Option<String> = sqlx::query_scalar(
            "select status from pgflow.complete_task(run_id => $1, step_slug => $2, task_index => $3, output => $4)",
        )
        .bind(task.run)
        .bind(&task.step)
        .bind(task.index)
        .bind(task.output())
        .fetch_optional(&mut *conn)
        .await
        .doing("completing a task")?;
        settled += u32::from(status.as_deref() == Some("completed"));
    }
    Ok(settled)
}
