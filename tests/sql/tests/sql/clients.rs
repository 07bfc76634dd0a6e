//! The statements that other clients send, word for word, with bound parameters.

use pgflow_test_support::TestDb;
use serde_json::{Value, json};
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

const WORKER: Uuid = Uuid::from_u128(0xa);

async fn compiled() -> TestDb {
    let db = TestDb::new().await;
    let script = "
        SELECT pgflow.create_flow('orders', max_attempts => 2, base_delay => 1, timeout => 30);
        SELECT pgflow.add_step('orders', 'load');
        SELECT pgflow.add_step('orders', 'each', ARRAY['load'], max_attempts => 1, start_delay => 0, step_type => 'map');
        SELECT pgflow.add_step('orders', 'vip', ARRAY['load'], required_input_pattern => '{\"load\": [7]}',
            forbidden_input_pattern => '{\"load\": [0]}', when_unmet => 'skip', when_exhausted => 'skip');";
    sqlx::raw_sql(script).execute(&db.pool).await.expect("a compiled migration runs");
    db
}

async fn start(db: &TestDb) -> Uuid {
    let statement = "SELECT * FROM pgflow.start_flow(flow_slug => $1, input => $2)";
    let query = sqlx::query(statement).bind("orders").bind(json!({"n": 1}));
    query.fetch_one(&db.pool).await.expect("started").get("run_id")
}

/// Both phases of polling.
async fn poll(db: &TestDb) -> Vec<PgRow> {
    let read = "SELECT * FROM pgmq.read_with_poll(queue_name => $1, vt => $2, qty => $3, max_poll_seconds => $4, \
                poll_interval_ms => $5)";
    let read = sqlx::query(read).bind("orders").bind(2).bind(10).bind(1).bind(50);
    let messages = read.fetch_all(&db.pool).await.expect("read");
    let ids: Vec<i64> = messages.iter().map(|row| row.get("msg_id")).collect();
    let tasks = "SELECT * FROM pgflow.start_tasks(flow_slug => $1, msg_ids => $2::bigint[], worker_id => $3::uuid)";
    let tasks = sqlx::query(tasks).bind("orders").bind(ids).bind(WORKER);
    tasks.fetch_all(&db.pool).await.expect("started tasks")
}

async fn complete(db: &TestDb, task: &PgRow, output: Value) {
    let statement = "SELECT pgflow.complete_task(run_id => $1, step_slug => $2, task_index => $3, output => $4::jsonb)";
    let query = sqlx::query(statement)
        .bind(task.get::<Uuid, _>("run_id"))
        .bind(task.get::<String, _>("step_slug"))
        .bind(task.get::<i32, _>("task_index"))
        .bind(output);
    query.fetch_one(&db.pool).await.expect("completed");
}

async fn register(db: &TestDb) {
    let tracked = sqlx::query("select pgflow.track_worker_function($1)").bind("orders-worker");
    tracked.execute(&db.pool).await.expect("tracked");
    let statement = "INSERT INTO pgflow.workers (queue_name, worker_id, function_name) VALUES ($1, $2, $3) RETURNING *";
    let query = sqlx::query(statement).bind("orders").bind(WORKER).bind("orders-worker");
    query.fetch_one(&db.pool).await.expect("registered");
}

#[tokio::test]
async fn a_foreign_worker_takes_a_run_to_its_end() {
    let db = compiled().await;
    register(&db).await;
    let run = start(&db).await;
    let tasks = poll(&db).await;
    assert_eq!(tasks[0].get::<Value, _>("input"), json!({"run": {"n": 1}}));
    assert_eq!(tasks[0].get::<i64, _>("msg_id"), 1);
    complete(&db, &tasks[0], json!([1, 2])).await;
    for task in poll(&db).await {
        complete(&db, &task, json!({"got": task.get::<Value, _>("input")})).await;
    }
    let shown = sqlx::query_scalar::<_, Value>("SELECT pgflow.get_run_with_states(run_id => $1)");
    let shown = shown.bind(run).fetch_one(&db.pool).await.expect("shown");
    assert_eq!(shown["run"]["status"], "completed");
    assert_eq!(shown["run"]["output"], json!({"each": [{"got": 1}, {"got": 2}]}));
    db.check().await;
}

#[tokio::test]
async fn a_foreign_worker_fails_a_task() {
    let db = compiled().await;
    register(&db).await;
    start(&db).await;
    let task = poll(&db).await.remove(0);
    let statement = "SELECT pgflow.fail_task(run_id => $1, step_slug => $2, task_index => $3, error_message => $4)";
    let query = sqlx::query(statement)
        .bind(task.get::<Uuid, _>("run_id"))
        .bind(task.get::<String, _>("step_slug"))
        .bind(task.get::<i32, _>("task_index"))
        .bind("boom");
    query.fetch_one(&db.pool).await.expect("failed");
    let status = "select status from pgflow.step_tasks";
    let status: String = sqlx::query_scalar(status).fetch_one(&db.pool).await.expect("a task");
    assert_eq!(status, "queued");
    db.check().await;
}

#[tokio::test]
async fn a_client_starts_with_its_own_run_id() {
    let db = compiled().await;
    let id = Uuid::from_u128(42);
    let statement = "SELECT * FROM pgflow.start_flow(flow_slug => $1, input => $2, run_id => $3)";
    let query = sqlx::query(statement).bind("orders").bind(json!({})).bind(id);
    assert_eq!(query.fetch_one(&db.pool).await.expect("started").get::<Uuid, _>("run_id"), id);
    let statement =
        "SELECT pgflow.start_flow_with_states(flow_slug => $1, input => $2, run_id => $3)";
    let query = sqlx::query_scalar::<_, Value>(statement)
        .bind("orders")
        .bind(json!({}))
        .bind(Uuid::from_u128(43));
    let shown = query.fetch_one(&db.pool).await.expect("started");
    assert_eq!(shown["steps"].as_array().map(Vec::len), Some(3));
    db.check().await;
}

#[tokio::test]
async fn a_worker_compiles_its_flow_at_start() {
    let db = TestDb::new().await;
    let shape = json!({"steps": [{"slug": "a", "stepType": "single", "dependencies": []}]});
    let statement = "select pgflow.ensure_flow_compiled($1, $2::jsonb, $3)";
    let query = sqlx::query_scalar::<_, Value>(statement).bind("fresh").bind(shape).bind(false);
    assert_eq!(query.fetch_one(&db.pool).await.expect("an answer")["status"], "compiled");
    sqlx::query("select pgflow.mark_worker_stopped($1)")
        .bind(WORKER)
        .execute(&db.pool)
        .await
        .expect("no error");
    db.check().await;
}
