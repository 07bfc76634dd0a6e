//! `fail_task` with attempts left.

use crate::harness::{Db, define};

#[tokio::test]
async fn a_failed_task_goes_back_to_the_queue() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    let queued_at = run.task("a", 0, "queued_at").await;
    db.claim("f").await;
    let call = format!("pgflow.fail_task('{}', 'a', 0, 'boom')", run.id);
    let row = db.one(&format!("select to_jsonb(t) from {call} t")).await;
    assert_eq!(row, run.task("a", 0, "to_jsonb(step_tasks)").await);
    let task = "status, attempts_count, error_message, started_at, failed_at, output";
    assert_eq!(run.task("a", 0, task).await, "queued|1|boom|NULL|NULL|NULL");
    assert_eq!(run.task("a", 0, "queued_at").await, queued_at);
    assert_eq!(run.step("a", "status, error_message").await, "started|NULL");
    assert_eq!(db.queue("f").await, ["a#0"]);
    db.check().await;
}

#[tokio::test]
async fn a_retry_makes_no_event() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    run.fail("a", 0, "boom").await;
    assert_eq!(run.events().await, ["run:started", "step:a:started"]);
    db.check().await;
}

#[tokio::test]
async fn attempts_count_every_start() {
    let db = Db::with(&define("f", &["a; max_attempts => 3"])).await;
    let run = db.start("f", "{}").await;
    for attempt in 1..=3 {
        assert_eq!(db.claim("f").await[0].attempt, attempt);
        let status = if attempt == 3 { "failed" } else { "queued" };
        assert_eq!(run.fail("a", 0, &format!("error {attempt}")).await, [status]);
    }
    assert_eq!(run.task("a", 0, "attempts_count, error_message").await, "3|error 3");
    assert_eq!(run.status().await, "failed");
    db.check().await;
}

#[tokio::test]
async fn limits_of_the_step_win_over_the_flows() {
    let db = Db::with("select pgflow.create_flow('f', max_attempts => 1, base_delay => 0)").await;
    db.run("select pgflow.add_step('f', 'a'); select pgflow.add_step('f', 'b', max_attempts => 2)")
        .await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    assert_eq!(run.fail("b", 0, "boom").await, ["queued"]);
    assert_eq!(run.fail("a", 0, "boom").await, ["failed"]);
    db.check().await;
}

#[tokio::test]
async fn no_attempts_means_one() {
    let db = Db::with(&define("f", &["a; max_attempts => 0"])).await;
    let run = db.start("f", "{}").await;
    assert_eq!(db.claim("f").await.len(), 1);
    assert_eq!(run.fail("a", 0, "boom").await, ["failed"]);
    assert_eq!(run.status().await, "failed");
    db.check().await;
}

#[tokio::test]
async fn unknown_tasks_give_no_rows() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    assert_eq!(run.fail("a", 1, "x").await, [""; 0]);
    assert_eq!(run.fail("nope", 0, "x").await, [""; 0]);
    let call =
        "select * from pgflow.fail_task('00000000-0000-0000-0000-000000000001', 'a', 0, 'x')";
    assert_eq!(db.rows(call).await, [""; 0]);
    assert_eq!(run.tasks().await, ["a#0:started:1"]);
    db.check().await;
}

#[tokio::test]
async fn a_queued_task_only_has_its_message_pushed_back() {
    let db = Db::with("select pgflow.create_flow('f', base_delay => 7)").await;
    db.run("select pgflow.add_step('f', 'a')").await;
    let run = db.start("f", "{}").await;
    let before = run.task("a", 0, "to_jsonb(step_tasks)").await;
    let fail = format!("select pgflow.fail_task('{}', 'a', 0, 'early')", run.id);
    assert_eq!(db.hides("f", &fail).await, ["a:7"], "base_delay * 2 ^ 0");
    assert_eq!(run.task("a", 0, "to_jsonb(step_tasks)").await, before);
    db.check().await;
}

#[tokio::test]
async fn one_element_is_retried_while_the_others_go_on() {
    let db = Db::with(&define("f", &["m map"])).await;
    let run = db.start("f", "[1, 2, 3]").await;
    db.claim("f").await;
    run.complete("m", 0, "1").await;
    run.fail("m", 1, "boom").await;
    run.complete("m", 2, "3").await;
    assert_eq!(run.step("m", "status, remaining_tasks").await, "started|1");
    db.check().await;
    db.claim("f").await;
    run.complete("m", 1, "2").await;
    assert_eq!(run.get("output").await, r#"{"m": [1, 2, 3]}"#);
    db.check().await;
}

#[tokio::test]
async fn an_error_message_may_be_null_or_odd() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    db.run(&format!("select pgflow.fail_task('{}', 'a', 0, null)", run.id)).await;
    assert_eq!(run.task("a", 0, "status, error_message").await, "queued|NULL");
    db.claim("f").await;
    let odd = "'; drop table pgflow.runs; -- \\ \" é 🦀";
    run.fail("a", 0, odd).await;
    assert_eq!(run.task("a", 0, "error_message").await, odd);
    db.check().await;
}
