//! `poll_for_tasks`: both phases in one round trip.

use std::time::{Duration, Instant};

use crate::harness::{Db, Task, Waiting, define};

async fn poll(db: &Db, arguments: &str) -> Vec<Task> {
    let sql =
        format!("select to_jsonb(t) from pgflow.poll_for_tasks({arguments}) t order by task_index");
    db.rows(&sql).await.iter().map(|row| Task::parse(row)).collect()
}

#[tokio::test]
async fn tasks_come_started_with_their_input() {
    let db = Db::with(&define("f", &["m map"])).await;
    let run = db.start("f", "[10, 20, 30]").await;
    let tasks = poll(&db, "queue_name => 'f', vt => 1, qty => 2").await;
    let names: Vec<_> = tasks.iter().map(Task::name).collect();
    assert_eq!(names, ["m#0", "m#1"], "the oldest first, no more than asked for");
    assert_eq!(tasks[1].input, serde_json::json!(20));
    assert_eq!((tasks[0].run, tasks[0].attempt), (run.id, 1));
    assert_eq!(tasks[0].message.to_string(), run.task("m", 0, "message_id").await);
    assert_eq!(run.tasks().await, ["m#0:started:1", "m#1:started:1", "m#2:queued:0"]);
    db.check().await;
}

#[tokio::test]
async fn an_empty_queue_is_waited_for() {
    let db = Db::with(&define("f", &["a"])).await;
    let began = Instant::now();
    assert_eq!(
        poll(&db, "'f', 1, 1, max_poll_seconds => 1, poll_interval_ms => 20").await.len(),
        0
    );
    let waited = began.elapsed();
    assert!(waited > Duration::from_millis(700) && waited < Duration::from_secs(30), "{waited:?}");
}

#[tokio::test]
async fn a_task_that_comes_while_waiting_is_had() {
    let db = Db::with(&define("f", &["a"])).await;
    let call = "select step_slug from pgflow.poll_for_tasks('f', 1, 1, 600, 20)";
    let polling = Waiting::for_another_try(&db, call).await;
    db.start("f", "1").await;
    assert_eq!(polling.answer().await, Ok(vec!["a".to_owned()]));
    db.check().await;
}

#[tokio::test]
async fn an_unknown_queue_is_refused() {
    let db = Db::new().await;
    let failure = db.error("select pgflow.poll_for_tasks('nope', 1, 1, 1)").await;
    assert_eq!(failure.code, "42P01", "{failure}");
}
