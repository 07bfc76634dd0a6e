//! Callbacks that come when the step is no longer started.

use crate::harness::{Db, Run, define};

/// A map whose first task was skipped away while the second still ran.
async fn skipped(db: &Db) -> Run<'_> {
    db.run(&define("f", &["m map; max_attempts => 1, when_exhausted => 'skip'", "z"])).await;
    let run = db.start("f", "[1, 2]").await;
    db.claim("f").await;
    run.fail("m", 0, "boom").await;
    assert_eq!(run.step("m", "status").await, "skipped");
    run
}

#[tokio::test]
async fn completing_changes_nothing() {
    let db = Db::new().await;
    let run = skipped(&db).await;
    let before = run.step("m", "to_jsonb(step_states)").await;
    let task = run.task("m", 1, "to_jsonb(step_tasks)").await;
    assert_eq!(run.complete("m", 1, "1").await, ["started"]);
    assert_eq!(run.step("m", "to_jsonb(step_states)").await, before);
    assert_eq!(run.task("m", 1, "to_jsonb(step_tasks)").await, task);
    assert_eq!(run.get("remaining_steps").await, "1");
    assert_eq!(db.queue("f").await, ["z#0"]);
    db.check().await;
}

#[tokio::test]
async fn failing_changes_nothing() {
    let db = Db::new().await;
    let run = skipped(&db).await;
    let task = run.task("m", 1, "to_jsonb(step_tasks)").await;
    let events = run.events().await;
    assert_eq!(run.fail("m", 1, "late").await, ["started"]);
    assert_eq!(run.task("m", 1, "to_jsonb(step_tasks)").await, task);
    assert_eq!(run.events().await, events);
    assert_eq!(run.get("remaining_steps").await, "1");
    db.check().await;
}

#[tokio::test]
async fn a_repeated_failure_after_a_skip_counts_once() {
    let db = Db::new().await;
    let run = skipped(&db).await;
    let events = run.events().await;
    assert_eq!(run.fail("m", 0, "again").await, ["failed"]);
    assert_eq!(run.events().await, events);
    assert_eq!(run.get("remaining_steps").await, "1");
    assert_eq!(run.step("m", "error_message").await, "boom");
    db.check().await;
}

#[tokio::test]
async fn a_message_that_was_left_is_archived() {
    let db = Db::new().await;
    let run = skipped(&db).await;
    let body = format!(
        "jsonb_build_object('flow_slug', 'f', 'run_id', '{}', 'step_slug', 'm', 'task_index', 1)",
        run.id
    );
    let send = format!("(select pgmq.send('f', {body}))");
    for late in ["complete_task", "fail_task"] {
        let put = format!(
            "update pgflow.step_tasks set message_id = {send} where step_slug = 'm' and task_index = 1"
        );
        db.run(&put).await;
        assert_eq!(db.queue("f").await, ["m#1", "z#0"]);
        let value = if late == "fail_task" { "'x'" } else { "'1'::jsonb" };
        db.run(&format!("select pgflow.{late}('{}', 'm', 1, {value})", run.id)).await;
        assert_eq!(db.queue("f").await, ["z#0"], "{late}");
    }
    db.check().await;
}

#[tokio::test]
async fn a_completed_run_stays_completed() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "1").await;
    let before = run.get("to_jsonb(runs)").await;
    assert_eq!(run.complete("a", 0, "2").await, ["completed"]);
    assert_eq!(run.fail("a", 0, "late").await, ["completed"]);
    assert_eq!(run.get("to_jsonb(runs)").await, before);
    assert_eq!(run.task("a", 0, "output, error_message").await, "1|NULL");
    db.check().await;
}

#[tokio::test]
async fn batches_say_that_it_is_settled() {
    let db = Db::new().await;
    let run = skipped(&db).await;
    let task = format!("array['{}']::uuid[], array['m'], array[1]", run.id);
    let complete = format!("pgflow.complete_tasks({task}, array['1'::jsonb], array[1])");
    let fail = format!("pgflow.fail_tasks({task}, array['x'], array[1])");
    for call in [complete, fail] {
        assert_eq!(db.rows(&format!("select outcome from {call}")).await, ["already_settled"]);
    }
    assert_eq!(run.task("m", 1, "status, output, error_message").await, "started|NULL|NULL");
    db.check().await;
}
