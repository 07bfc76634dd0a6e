//! Messages in a flow's queue that the core did not send.

use crate::harness::{Db, Task, define};

const FOREIGN: [&str; 9] = [
    "{}",
    "null",
    "7",
    "[1]",
    "\"text\"",
    r#"{"run_id": "no uuid", "step_slug": "a", "task_index": 0}"#,
    r#"{"run_id": "00000000-0000-0000-0000-000000000001", "step_slug": "a", "task_index": 0}"#,
    r#"{"run_id": "------------------------------------", "step_slug": "a", "task_index": 0}"#,
    r#"{"run_id": null, "step_slug": {"a": 1}, "task_index": "99999999999999999999"}"#,
];

async fn with_foreign_messages() -> Db {
    let db = Db::with(&define("f", &["a"])).await;
    for message in FOREIGN {
        db.run(&format!("select pgmq.send('f', '{message}'::jsonb)")).await;
    }
    db
}

#[tokio::test]
async fn they_do_not_stop_the_work() {
    let db = with_foreign_messages().await;
    let run = db.start("f", "{}").await;
    let names: Vec<_> = db.claim("f").await.iter().map(Task::name).collect();
    assert_eq!(names, ["a#0"]);
    run.complete("a", 0, "1").await;
    assert_eq!(run.status().await, "completed");
}

#[tokio::test]
async fn they_do_not_stop_the_other_functions() {
    let db = with_foreign_messages().await;
    let run = db.start("f", "{}").await;
    db.run("select pgmq.read('f', 0, 100)").await;
    let every = "(select array_agg(msg_id) from pgmq.q_f)";
    let started = format!("select step_slug from pgflow.start_tasks('f', {every}, null)");
    assert_eq!(db.rows(&started).await, ["a"]);
    run.stall("a", 0).await;
    assert_eq!(db.one("select pgflow.requeue_stalled_tasks()").await, "1");
    db.run("select pgflow.prune_data_older_than(interval '1 second', null)").await;
    let reported =
        db.one("select count(*) from pgflow.check() where invariant = 'message_without_live_task'");
    assert_eq!(reported.await, FOREIGN.len().to_string(), "and the checker tells of each");
    db.run(&format!("select pgflow.cancel_run('{}')", run.id)).await;
    db.run("select pgflow.delete_flow_and_data('f')").await;
    db.check().await;
}

#[tokio::test]
async fn a_copy_of_a_message_starts_nothing() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.run("select pgmq.send('f', message) from pgmq.q_f").await;
    assert_eq!(db.claim("f").await.len(), 1);
    assert_eq!(run.tasks().await, ["a#0:started:1"]);
    db.run("delete from pgmq.q_f where msg_id = 2").await;
    db.check().await;
}
