//! One call per batch: `claim_tasks`, `complete_tasks`.

use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{Driver, Task, task_of};
use crate::error::{Doing, Result};

pub(super) async fn claim(
    driver: &Driver,
    conn: &mut PgConnection,
    limit: u32,
) -> Result<Vec<Task>> {
    let rows = sqlx::query(
        "select * from pgflow.claim_tasks(queue_names => $1, qty => $2, worker_id => $3)",
    )
    .bind([driver.queue.as_str()])
    .bind(limit.cast_signed())
    .bind(driver.worker)
    .fetch_all(conn)
    .await
    .doing("claiming tasks")?;
    rows.iter().map(task_of).collect::<Result<_, _>>().doing("reading claimed tasks")
}

pub(super) async fn settle(conn: &mut PgConnection, tasks: &[Task]) -> Result<u32> {
    let runs: Vec<Uuid> = tasks.iter().map(|task| task.run).collect();
    let steps: Vec<&str> = tasks.iter().map(|task| task.step.as_str()).collect();
    let indexes: Vec<i32> = tasks.iter().map(|task| task.index).collect();
    let outputs: Vec<Value> = tasks.iter().map(Task::output).collect();
    let attempts: Vec<Option<i32>> = tasks.iter().map(|task| task.attempt).collect();
    let outcomes: Vec<String> = sqlx::query_scalar(
        "select outcome from pgflow.complete_tasks(run_ids => $1, step_slugs => $2, task_indexes => $3, outputs => $4, attempts => $5)",
    )
    .bind(runs)
    .bind(steps)
    .bind(indexes)
    .bind(outputs)
    .bind(attempts)
    .fetch_all(conn)
    .await
    .doing("completing tasks")?;
    Ok(outcomes.iter().map(|outcome| u32::from(outcome == "applied")).sum())
}
