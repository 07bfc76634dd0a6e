//! `complete_task`.

use crate::harness::{Db, define};

#[tokio::test]
async fn the_task_and_its_step_complete_with_the_output() {
    let db = Db::with(&define("f", &["a", "b after a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let call = format!("pgflow.complete_task('{}', 'a', 0, '{{\"n\": 1}}')", run.id);
    let row = db.one(&format!("select to_jsonb(t) from {call} t")).await;
    assert_eq!(row, run.task("a", 0, "to_jsonb(step_tasks)").await);
    let task = "status, output, completed_at >= started_at, failed_at, error_message";
    assert_eq!(run.task("a", 0, task).await, r#"completed|{"n": 1}|t|NULL|NULL"#);
    let step = "status, output, remaining_tasks, completed_at >= started_at";
    assert_eq!(run.step("a", step).await, r#"completed|{"n": 1}|0|t"#);
    assert_eq!(run.get("remaining_steps, status").await, "1|started");
    db.check().await;
}

#[tokio::test]
async fn the_message_is_archived() {
    let db = Db::with(&define("f", &["a", "b"])).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "1").await;
    assert_eq!(db.queue("f").await, ["b#0"]);
    assert_eq!(db.archive("f").await, ["a#0"]);
    db.check().await;
}

#[tokio::test]
async fn dependents_start_and_the_last_step_ends_the_run() {
    let db = Db::with(&define("f", &["a", "b after a", "c after b"])).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "1").await;
    assert_eq!(run.steps().await, ["a:completed", "b:started", "c:created"]);
    assert_eq!(run.step("b", "remaining_deps, remaining_tasks").await, "0|1");
    run.finish("b", "2").await;
    run.finish("c", "3").await;
    assert_eq!(run.get("status, output, remaining_steps").await, r#"completed|{"c": 3}|0"#);
    assert_eq!(db.queue("f").await, [""; 0]);
    assert_eq!(db.archive("f").await, ["a#0", "b#0", "c#0"]);
    db.check().await;
}

#[tokio::test]
async fn a_second_completion_is_ignored() {
    let db = Db::with(&define("f", &["m map", "z"])).await;
    let run = db.start("f", "[1, 2]").await;
    db.claim("f").await;
    run.complete("m", 0, "1").await;
    assert_eq!(run.complete("m", 0, "2").await, ["completed"]);
    assert_eq!(run.task("m", 0, "output").await, "1");
    assert_eq!(run.step("m", "remaining_tasks").await, "1");
    assert_eq!(run.get("remaining_steps").await, "2");
    db.check().await;
}

#[tokio::test]
async fn a_queued_task_cannot_be_completed() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    assert_eq!(run.complete("a", 0, "1").await, ["queued"]);
    assert_eq!(run.task("a", 0, "status, output").await, "queued|NULL");
    assert_eq!(run.step("a", "status, remaining_tasks").await, "started|1");
    assert_eq!(db.queue("f").await, ["a#0"], "its message must stay");
    run.finish("a", "2").await;
    assert_eq!(run.status().await, "completed");
    db.check().await;
}

#[tokio::test]
async fn unknown_tasks_give_no_rows() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    assert_eq!(run.complete("a", 1, "1").await, [""; 0]);
    assert_eq!(run.complete("nope", 0, "1").await, [""; 0]);
    let stranger = "00000000-0000-0000-0000-000000000001";
    let call = format!("select * from pgflow.complete_task('{stranger}', 'a', 0, '1')");
    assert_eq!(db.rows(&call).await, [""; 0]);
    assert_eq!(run.tasks().await, ["a#0:started:1"]);
    db.check().await;
}

#[tokio::test]
async fn an_earlier_error_stays_for_the_record() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    run.fail("a", 0, "first try").await;
    run.finish("a", "1").await;
    assert_eq!(
        run.task("a", 0, "status, attempts_count, error_message").await,
        "completed|2|first try"
    );
    assert_eq!(run.step("a", "error_message").await, "NULL");
    db.check().await;
}

#[tokio::test]
async fn an_sql_null_output_is_an_output() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    run.finish("a", None).await;
    assert_eq!(run.task("a", 0, "status, output").await, "completed|NULL");
    assert_eq!(run.step("a", "status, output").await, "completed|NULL");
    assert_eq!(run.get("status, output").await, r#"completed|{"a": null}"#);
    db.check().await;
}

#[tokio::test]
async fn a_run_that_is_rolled_back_while_completing_goes_on() {
    let db = Db::with(&define("f", &["a", "b after a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let mut session = db.session().await;
    session
        .run(&format!("begin; select pgflow.complete_task('{}', 'a', 0, '1'); rollback", run.id))
        .await;
    assert_eq!(run.steps().await, ["a:started", "b:created"]);
    db.check().await;
    assert_eq!(run.complete("a", 0, "1").await, ["completed"]);
    assert_eq!(run.steps().await, ["a:completed", "b:started"]);
    db.check().await;
}
