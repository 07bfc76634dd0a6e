//! The last attempt failed, and the step is skipped.

use serde_json::json;

use crate::harness::{Db, define};

#[tokio::test]
async fn a_skipped_step_remembers_why() {
    let db = Db::with(&define("f", &["a; max_attempts => 2, when_exhausted => 'skip'", "z"])).await;
    let run = db.start("f", "{}").await;
    run.exhaust("a", "boom").await;
    let step = "status, skip_reason, error_message, remaining_tasks, output, failed_at, skipped_at is not null";
    assert_eq!(run.step("a", step).await, "skipped|handler_failed|boom|NULL|NULL|NULL|t");
    assert_eq!(
        run.task("a", 0, "status, error_message, failed_at is not null").await,
        "failed|boom|t"
    );
    assert_eq!(run.get("status, remaining_steps").await, "started|1");
    assert_eq!(db.archive("f").await, ["a#0"]);
    let skipped = run.event("step:skipped", Some("a")).await;
    assert_eq!(
        (&skipped["skip_reason"], &skipped["error_message"]),
        (&json!("handler_failed"), &json!("boom"))
    );
    db.check().await;
}

#[tokio::test]
async fn dependents_of_a_skipped_step_go_on_without_it() {
    let db = Db::with(&define(
        "f",
        &["a; max_attempts => 1, when_exhausted => 'skip'", "b", "c after a b"],
    ))
    .await;
    let run = db.start("f", "{}").await;
    run.exhaust("a", "boom").await;
    assert_eq!(run.step("c", "status, remaining_deps").await, "created|1");
    run.complete("b", 0, "2").await;
    assert_eq!(db.claim("f").await[0].input, json!({"run": {}, "b": 2}));
    run.complete("c", 0, "3").await;
    assert_eq!(run.get("status, output").await, r#"completed|{"c": 3}"#);
    db.check().await;
}

#[tokio::test]
async fn a_map_behind_a_skipped_step_is_empty() {
    let steps = ["a; max_attempts => 1, when_exhausted => 'skip'", "m map after a", "z after m"];
    let db = Db::with(&define("f", &steps)).await;
    let run = db.start("f", "{}").await;
    run.exhaust("a", "boom").await;
    assert_eq!(run.step("m", "status, initial_tasks, output").await, "completed|0|[]");
    assert_eq!(db.claim("f").await[0].input, json!({"run": {}, "m": []}));
    db.check().await;
}

#[tokio::test]
async fn skip_cascade_takes_everything_below() {
    let steps = [
        "a; max_attempts => 1, when_exhausted => 'skip-cascade'",
        "b after a",
        "c after b",
        "m map after c",
        "other",
        "d after other a",
    ];
    let db = Db::with(&define("f", &steps)).await;
    let run = db.start("f", "{}").await;
    run.exhaust("a", "boom").await;
    let expected =
        ["a:skipped", "b:skipped", "c:skipped", "m:skipped", "other:started", "d:skipped"];
    assert_eq!(run.steps().await, expected);
    assert_eq!(run.step("a", "skip_reason, error_message").await, "handler_failed|boom");
    assert_eq!(run.step("b", "skip_reason, error_message").await, "dependency_skipped|NULL");
    assert_eq!(run.get("remaining_steps").await, "1");
    run.complete("other", 0, "1").await;
    assert_eq!(run.get("status, output").await, "completed|NULL");
    db.check().await;
}

#[tokio::test]
async fn the_siblings_of_a_skipped_element_keep_their_status() {
    let db = Db::with(&define(
        "f",
        &["m map; max_attempts => 1, when_exhausted => 'skip'", "z after m"],
    ))
    .await;
    let run = db.start("f", "[1, 2, 3]").await;
    db.claim_up_to("f", 2).await;
    run.fail("m", 1, "boom").await;
    assert_eq!(
        run.tasks().await,
        ["m#0:started:1", "m#1:failed:1", "m#2:queued:0", "z#0:queued:0"]
    );
    assert_eq!(db.queue("f").await, ["z#0"]);
    assert_eq!(db.archive("f").await, ["m#0", "m#1", "m#2"]);
    assert_eq!(db.claim("f").await[0].input, json!({"run": [1, 2, 3]}));
    db.check().await;
}

#[tokio::test]
async fn a_run_with_nothing_left_completes() {
    for mode in ["skip", "skip-cascade"] {
        let step = format!("a; max_attempts => 1, when_exhausted => '{mode}'");
        let db = Db::with(&define("f", &[&step])).await;
        let run = db.start("f", "{}").await;
        run.exhaust("a", "boom").await;
        assert_eq!(run.get("status, output, remaining_steps").await, "completed|NULL|0");
        let expected = ["run:started", "step:a:started", "step:a:skipped", "run:completed"];
        assert_eq!(run.events().await, expected);
        db.check().await;
    }
}

#[tokio::test]
async fn a_condition_that_needs_the_skipped_step_can_fail_the_run() {
    let steps = [
        "a; max_attempts => 1, when_exhausted => 'skip'",
        r#"b after a; required_input_pattern => '{"a": {}}', when_unmet => 'fail'"#,
    ];
    let db = Db::with(&define("f", &steps)).await;
    let run = db.start("f", "{}").await;
    run.exhaust("a", "boom").await;
    assert_eq!(run.status().await, "failed");
    assert_eq!(run.steps().await, ["a:skipped", "b:failed"]);
    assert_eq!(db.archive("f").await, ["a#0"]);
    db.check().await;
}
