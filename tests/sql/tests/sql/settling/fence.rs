//! A result counts only for the attempt that is running.

use crate::harness::{Db, Run, define};

/// A task whose first attempt was lost and whose second one runs.
async fn second_attempt(db: &Db) -> Run<'_> {
    db.run(&define("f", &["a", "b after a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    run.stall("a", 0).await;
    assert_eq!(db.one("select pgflow.requeue_stalled_tasks()").await, "1");
    assert_eq!(db.claim("f").await[0].attempt, 2);
    run
}

fn complete(run: &Run<'_>, output: u32, attempt: &str) -> String {
    let arguments = format!("run_id => '{}', step_slug => 'a', task_index => 0", run.id);
    format!(
        "select status, output from pgflow.complete_task({arguments}, output => '{output}', attempt => {attempt})"
    )
}

fn fail(run: &Run<'_>, attempt: &str) -> String {
    let arguments = format!("run_id => '{}', step_slug => 'a', task_index => 0", run.id);
    format!(
        "select status from pgflow.fail_task({arguments}, error_message => 'zombie', attempt => {attempt})"
    )
}

#[tokio::test]
async fn a_zombies_completion_changes_nothing() {
    let db = Db::new().await;
    let run = second_attempt(&db).await;
    let before = run.task("a", 0, "to_jsonb(step_tasks)").await;
    let message = db.one("select q from pgmq.q_f q").await;
    db.run(&complete(&run, 1, "1")).await;
    assert_eq!(run.task("a", 0, "to_jsonb(step_tasks)").await, before);
    assert_eq!(db.one("select q from pgmq.q_f q").await, message);
    assert_eq!(db.rows(&complete(&run, 2, "2")).await, ["completed|2"]);
    db.run(&complete(&run, 3, "1")).await;
    assert_eq!(run.step("a", "output").await, "2");
    db.check().await;
}

#[tokio::test]
async fn a_zombies_failure_changes_nothing() {
    let db = Db::new().await;
    let run = second_attempt(&db).await;
    let before = run.task("a", 0, "to_jsonb(step_tasks)").await;
    let message = db.one("select q from pgmq.q_f q").await;
    db.run(&fail(&run, "1")).await;
    assert_eq!(run.task("a", 0, "to_jsonb(step_tasks)").await, before);
    assert_eq!(db.one("select q from pgmq.q_f q").await, message, "not even the message moves");
    db.run(&complete(&run, 2, "2")).await;
    assert_eq!(run.step("a", "status, output").await, "completed|2");
    db.check().await;
}

#[tokio::test]
async fn an_attempt_that_never_was_is_fenced_too() {
    let db = Db::new().await;
    let run = second_attempt(&db).await;
    for attempt in ["0", "3", "-1"] {
        db.run(&complete(&run, 9, attempt)).await;
        db.run(&fail(&run, attempt)).await;
        assert_eq!(
            run.task("a", 0, "status, attempts_count, output, error_message").await,
            "started|2|NULL|NULL"
        );
    }
    db.check().await;
}

#[tokio::test]
async fn a_queued_retry_is_closed_to_the_attempt_before() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    run.fail("a", 0, "boom").await;
    db.run(&complete(&run, 1, "1")).await;
    db.run(&fail(&run, "1")).await;
    assert_eq!(run.task("a", 0, "status, attempts_count, error_message").await, "queued|1|boom");
    assert_eq!(db.queue("f").await, ["a#0"]);
    db.check().await;
}

#[tokio::test]
async fn without_an_attempt_the_fence_is_open() {
    let db = Db::new().await;
    let run = second_attempt(&db).await;
    assert_eq!(db.rows(&complete(&run, 7, "null")).await, ["completed|7"]);
    db.check().await;
}

#[tokio::test]
async fn a_type_violation_is_fenced_as_well() {
    let db = Db::with(&define("f", &["a", "m map after a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    run.fail("a", 0, "boom").await;
    db.claim("f").await;
    db.run(&complete(&run, 1, "1")).await;
    assert_eq!(run.status().await, "started");
    assert_eq!(run.tasks().await, ["a#0:started:2"]);
    db.check().await;
}

#[tokio::test]
async fn the_last_attempt_can_still_fail() {
    let db = Db::with(&define("f", &["a; max_attempts => 1"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    assert_eq!(db.rows(&fail(&run, "1")).await, ["failed"]);
    assert_eq!(run.status().await, "failed");
    db.check().await;
}
