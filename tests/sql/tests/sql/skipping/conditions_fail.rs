//! Conditions that fail the run.

use crate::harness::{Db, define};

const FAILS: &str = r#"required_input_pattern => '{"go": 1}', when_unmet => 'fail'"#;

#[tokio::test]
async fn an_unmet_condition_can_fail_the_run() {
    let db = Db::with(&define("f", &["z", &format!("a; {FAILS}"), "b after a"])).await;
    let run = db.start("f", "{}").await;
    let state = "status, error_message, started_at, failed_at is not null, skip_reason";
    assert_eq!(run.step("a", state).await, "failed|Condition not met|NULL|t|NULL");
    assert_eq!(run.get("status, failed_at is not null, remaining_steps").await, "failed|t|3");
    assert_eq!(run.events().await, ["run:started", "step:a:failed", "run:failed"]);
    assert_eq!(run.event("step:failed", Some("a")).await["error_message"], "Condition not met");
    assert_eq!(run.event("run:failed", None).await["error_message"], "Condition not met");
    assert_eq!(db.queue("f").await, [""; 0]);
    db.check().await;
}

#[tokio::test]
async fn the_first_by_index_is_the_one_that_fails() {
    let db = Db::with(&define("f", &[&format!("z; {FAILS}"), &format!("a; {FAILS}")])).await;
    let run = db.start("f", "{}").await;
    assert_eq!(run.steps().await, ["z:failed", "a:created"]);
    db.check().await;
}

#[tokio::test]
async fn failing_comes_before_skipping() {
    let skips = r#"a; required_input_pattern => '{"go": 1}'"#;
    let db = Db::with(&define("f", &[skips, &format!("b; {FAILS}")])).await;
    let run = db.start("f", "{}").await;
    assert_eq!(run.steps().await, ["a:created", "b:failed"]);
    db.check().await;
}

#[tokio::test]
async fn a_condition_in_the_middle_archives_what_is_queued() {
    let fails = r#"b after a; forbidden_input_pattern => '{"a": 0}', when_unmet => 'fail'"#;
    let db = Db::with(&define("f", &["a", fails, "m map"])).await;
    let run = db.start("f", "[1, 2]").await;
    let other = db.start("f", "[1]").await;
    db.claim_up_to("f", 2).await;
    assert_eq!(run.complete("a", 0, "0").await, ["completed"]);
    assert_eq!(run.get("status, remaining_steps").await, "failed|2");
    assert_eq!(run.steps().await, ["a:completed", "b:failed", "m:started"]);
    assert_eq!(run.tasks().await, ["a#0:completed:1", "m#0:started:1", "m#1:queued:0"]);
    assert_eq!(db.archive("f").await, ["a#0", "m#0", "m#1"]);
    assert_eq!(other.status().await, "started");
    let expected = [
        "run:started",
        "step:a:started",
        "step:m:started",
        "step:a:completed",
        "step:b:failed",
        "run:failed",
    ];
    assert_eq!(run.events().await, expected);
    db.check().await;
}

#[tokio::test]
async fn resolving_says_whether_the_run_lives() {
    let db = Db::with(&define("f", &["a; max_attempts => 1"])).await;
    let call =
        |id: uuid::Uuid| format!("select pgflow.cascade_resolve_conditions(run_id => '{id}')");
    let run = db.start("f", "{}").await;
    assert_eq!(db.one(&call(run.id)).await, "t");
    run.finish("a", "1").await;
    assert_eq!(db.one(&call(run.id)).await, "t", "a completed run has not failed");
    let failed = db.start("f", "{}").await;
    failed.exhaust("a", "boom").await;
    assert_eq!(db.one(&call(failed.id)).await, "f");
    db.check().await;
}
