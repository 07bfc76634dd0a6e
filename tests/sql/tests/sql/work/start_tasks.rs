//! `start_tasks`: the second phase of polling.

use crate::harness::{Db, define};

const EVERY: &str = "(select array_agg(message_id) from pgflow.step_tasks)";

fn start(flow: &str, messages: &str) -> String {
    format!(
        "select step_slug, task_index from pgflow.start_tasks('{flow}', {messages}, null) order by 1, 2"
    )
}

#[tokio::test]
async fn a_started_task_says_when_and_how_often() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    let message = run.task("a", 0, "message_id").await;
    assert_eq!(db.rows(&start("f", &format!("array[{message}]"))).await, ["a|0"]);
    let started = "status, attempts_count, started_at >= queued_at, last_worker_id";
    assert_eq!(run.task("a", 0, started).await, "started|1|t|NULL");
    db.check().await;
}

#[tokio::test]
async fn the_record_has_its_fields_in_order() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "5").await;
    let message = run.task("a", 0, "message_id").await;
    let row = db
        .one(&format!("select * from pgflow.start_tasks('f', array[{message}]::bigint[], null)"))
        .await;
    let expected = format!(r#"f|{}|a|{{"run": 5}}|{message}|0|1"#, run.id);
    assert!(row.starts_with(&expected), "{row}");
    db.check().await;
}

#[tokio::test]
async fn nothing_asked_nothing_started() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    for messages in ["null", "'{}'", "array[999]::bigint[]", "array[null]::bigint[]"] {
        assert_eq!(db.rows(&start("f", messages)).await, [""; 0], "{messages}");
    }
    assert_eq!(run.tasks().await, ["a#0:queued:0"]);
    db.check().await;
}

#[tokio::test]
async fn a_started_task_is_not_started_again() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    let messages = format!("array[{0}, {0}]::bigint[]", run.task("a", 0, "message_id").await);
    assert_eq!(db.rows(&start("f", &messages)).await, ["a|0"]);
    assert_eq!(db.rows(&start("f", &messages)).await, [""; 0]);
    assert_eq!(run.task("a", 0, "attempts_count").await, "1");
    db.check().await;
}

#[tokio::test]
async fn the_message_ids_of_another_flow_mean_nothing() {
    let db = Db::with(&(define("f", &["a"]) + &define("g", &["a"]))).await;
    let f = db.start("f", "{}").await;
    let g = db.start("g", "{}").await;
    let message = g.task("a", 0, "message_id").await;
    assert_eq!(db.rows(&start("f", &format!("array[{message}]::bigint[]"))).await, ["a|0"]);
    assert_eq!(f.task("a", 0, "status").await, "started");
    assert_eq!(g.task("a", 0, "status").await, "queued");
    assert_eq!(db.rows(&start("nope", &format!("array[{message}]::bigint[]"))).await, [""; 0]);
    db.check().await;
}

#[tokio::test]
async fn tasks_of_a_skipped_step_stay_where_they_are() {
    let db = Db::with(&define(
        "f",
        &["m map; when_exhausted => 'skip', max_attempts => 1", "z after m"],
    ))
    .await;
    let run = db.start("f", "[1, 2]").await;
    db.claim_up_to("f", 1).await;
    run.fail("m", 0, "boom").await;
    assert_eq!(run.step("m", "status").await, "skipped");
    assert_eq!(db.rows(&start("f", EVERY)).await, ["z|0"]);
    assert_eq!(run.tasks().await, ["m#0:failed:1", "m#1:queued:0", "z#0:started:1"]);
    db.check().await;
}

#[tokio::test]
async fn tasks_of_an_ended_run_stay_where_they_are() {
    let db = Db::with(&define("f", &["m map"])).await;
    let run = db.start("f", "[1, 2]").await;
    db.run(&format!("select pgflow.cancel_run('{}')", run.id)).await;
    assert_eq!(db.rows(&start("f", EVERY)).await, [""; 0]);
    assert_eq!(run.tasks().await, ["m#0:queued:0", "m#1:queued:0"]);
    db.check().await;
}

#[tokio::test]
async fn two_phases_work_together() {
    let db = Db::with(&define("f", &["m map"])).await;
    let run = db.start("f", "[1, 2, 3]").await;
    let read =
        "select array_agg(msg_id) from pgmq.read_with_poll(queue_name => 'f', vt => 2, qty => 2,
        max_poll_seconds => 1, poll_interval_ms => 50)";
    let messages = db.one(read).await;
    assert_eq!(db.rows(&start("f", &format!("'{messages}'::bigint[]"))).await, ["m|0", "m|1"]);
    assert_eq!(run.tasks().await, ["m#0:started:1", "m#1:started:1", "m#2:queued:0"]);
    db.check().await;
}
