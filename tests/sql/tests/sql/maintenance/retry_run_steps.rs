//! `retry_run`, by what had failed the run.

use crate::harness::{Db, Run, define};

async fn retry(db: &Db, run: &Run<'_>) -> String {
    db.one(&format!("select status from pgflow.retry_run('{}')", run.id)).await
}

#[tokio::test]
async fn after_a_wrong_type_the_step_that_made_it_runs_again() {
    let db = Db::with(&define("f", &["a", "m map after a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    run.complete("a", 0, "7").await;
    assert_eq!(run.status().await, "failed");
    retry(&db, &run).await;
    assert_eq!(run.steps().await, ["a:started", "m:created"]);
    assert_eq!(run.task("a", 0, "status, output").await, "queued|NULL");
    db.check().await;
    run.finish("a", "[7]").await;
    run.finish("m", "8").await;
    assert_eq!(run.get("status, output").await, r#"completed|{"m": [8]}"#);
    db.check().await;
}

#[tokio::test]
async fn a_stalled_task_is_tried_again_from_the_beginning() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    for _ in 0..4 {
        db.claim("f").await;
        run.stall("a", 0).await;
        db.run("select pgflow.requeue_stalled_tasks()").await;
    }
    assert_eq!(run.status().await, "failed");
    retry(&db, &run).await;
    let columns = "status, requeued_count, permanently_stalled_at, attempts_count, refunded_count";
    assert_eq!(run.task("a", 0, columns).await, "queued|0|NULL|4|4");
    db.check().await;
    run.finish("a", "1").await;
    assert_eq!(run.status().await, "completed");
    db.check().await;
}

const CONDITION: &str = r#"c after a; required_input_pattern => '{"a": 1}', when_unmet => 'fail'"#;

#[tokio::test]
async fn a_condition_that_still_fails_ends_the_run_again() {
    let db = Db::with(&define("f", &["a", CONDITION, "s"])).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "2").await;
    assert_eq!(run.status().await, "failed");
    assert_eq!(retry(&db, &run).await, "failed");
    assert_eq!(run.steps().await, ["a:completed", "c:failed", "s:started"]);
    assert_eq!(db.queue("f").await, [""; 0]);
    let events = run.events().await;
    assert_eq!(events[events.len() - 3..], ["run:retried", "step:c:failed", "run:failed"]);
    db.check().await;
}

#[tokio::test]
async fn a_condition_that_was_mended_lets_the_run_go_on() {
    let db = Db::with(&define("f", &["a", CONDITION, "s", "d after a"])).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "2").await;
    assert_eq!(run.steps().await, ["a:completed", "c:failed", "s:started", "d:created"]);
    db.run("update pgflow.steps set required_input_pattern = null where step_slug = 'c'").await;
    assert_eq!(retry(&db, &run).await, "started");
    assert_eq!(run.steps().await, ["a:completed", "c:started", "s:started", "d:started"]);
    db.check().await;
    for step in ["c", "s", "d"] {
        run.finish(step, "1").await;
    }
    assert_eq!(run.status().await, "completed");
    db.check().await;
}

#[tokio::test]
async fn skipped_and_completed_steps_stay() {
    let steps = [
        "a; max_attempts => 1, when_exhausted => 'skip'",
        "b",
        "m map; max_attempts => 1",
        "z after a b m",
    ];
    let db = Db::with(&define("f", &steps)).await;
    let run = db.start("f", "[1]").await;
    db.claim("f").await;
    run.fail("a", 0, "x").await;
    run.complete("b", 0, "1").await;
    run.fail("m", 0, "boom").await;
    retry(&db, &run).await;
    assert_eq!(run.steps().await, ["a:skipped", "b:completed", "m:started", "z:created"]);
    assert_eq!(db.queue("f").await, ["m#0"]);
    db.check().await;
    run.finish("m", "1").await;
    run.finish("z", "2").await;
    assert_eq!(run.status().await, "completed");
    db.check().await;
}

#[tokio::test]
async fn a_flow_without_events_has_none_of_a_retry() {
    let script = define("f", &["a; max_attempts => 1"])
        + "select pgflow.configure_flow('f', record_events => false)";
    let db = Db::with(&script).await;
    let run = db.start("f", "{}").await;
    run.exhaust("a", "boom").await;
    assert_eq!(retry(&db, &run).await, "started");
    assert_eq!(run.events().await, [""; 0]);
    db.check().await;
}
