//! A worker, as small as it can be: it takes tasks of the versions it has code for, one batch after
//! the other, until there are none.

use pgflow::{Context, Registry, Served, Task};
use serde_json::Value;
use sqlx::PgPool;
use uuid::Uuid;

/// A program with some flows.
#[derive(Debug)]
pub struct Worker {
    pool: PgPool,
    served: Vec<Served>,
}

/// A row of `pgflow.claim_tasks`.
struct Claimed {
    flow_slug: String,
    run_id: Uuid,
    step_slug: String,
    input: Value,
    task_index: i32,
    attempt: i32,
}

impl Worker {
    /// With the code of these flows, and of nothing else.
    pub fn new(pool: &PgPool, registry: &Registry) -> Self {
        Self { pool: pool.clone(), served: registry.served() }
    }

    /// Works until nothing is left that it can do, and returns `flow/step` of what it did, sorted.
    pub async fn work(&self) -> Result<Vec<String>, sqlx::Error> {
        let mut done = Vec::new();
        loop {
            let some = self.work_once(16).await?;
            if some.is_empty() {
                done.sort();
                return Ok(done);
            }
            done.extend(some);
        }
    }

    /// Does up to so many tasks that are ready now.
    pub async fn work_once(&self, qty: i32) -> Result<Vec<String>, sqlx::Error> {
        let mut done = Vec::new();
        for task in self.claim(qty).await? {
            self.run(&task).await?;
            done.push(format!("{}/{}", task.flow_slug, task.step_slug));
        }
        Ok(done)
    }

    async fn claim(&self, qty: i32) -> Result<Vec<Claimed>, sqlx::Error> {
        let queues: Vec<&str> = self.served.iter().map(Served::slug).collect();
        let rows: Vec<(String, Uuid, String, Value, i32, i32)> = sqlx::query_as(
            "select flow_slug, run_id, step_slug, input, task_index, attempt
               from pgflow.claim_tasks($1, $2)",
        )
        .bind(queues)
        .bind(qty)
        .fetch_all(&self.pool)
        .await?;
        let claimed = |(flow_slug, run_id, step_slug, input, task_index, attempt)| Claimed {
            flow_slug,
            run_id,
            step_slug,
            input,
            task_index,
            attempt,
        };
        Ok(rows.into_iter().map(claimed).collect())
    }

    async fn run(&self, claimed: &Claimed) -> Result<(), sqlx::Error> {
        let served = self.served.iter().find(|served| served.slug() == claimed.flow_slug);
        let step = served.and_then(|served| Some((served, served.step(&claimed.step_slug)?)));
        let output = match step {
            Some((served, step)) => task(served, claimed).run(step).await,
            None => Err("there is no code for this step".into()),
        };
        let (function, value) = match &output {
            Ok(output) => (
                "complete_task(run_id => $1, step_slug => $2, task_index => $3, output => $4::jsonb, attempt => $5)",
                output.to_string(),
            ),
            Err(error) => (
                "fail_task(run_id => $1, step_slug => $2, task_index => $3, error_message => $4, attempt => $5)",
                error.to_string(),
            ),
        };
        sqlx::query(sqlx::AssertSqlSafe(format!("select pgflow.{function}")))
            .bind(claimed.run_id)
            .bind(&claimed.step_slug)
            .bind(claimed.task_index)
            .bind(value)
            .bind(claimed.attempt)
            .execute(&self.pool)
            .await
            .map(drop)
    }
}

/// The input as the code calls its parts.
fn task(served: &Served, claimed: &Claimed) -> Task {
    let context = Context::for_test().with_attempt(claimed.attempt.unsigned_abs());
    let task = Task::new(context).with_item(claimed.input.clone());
    let Value::Object(parts) = &claimed.input else { return task };
    parts.iter().fold(task, |task, (key, value)| match key.as_str() {
        "run" => task.with_run(value.clone()),
        slug => task.with_output(served.current(slug), value.clone()),
    })
}
