//! A step that feeds a map must put out an array.

use serde_json::json;

use crate::harness::{Db, define};

async fn violate(db: &Db, output: Option<&str>, found: &str) {
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    assert_eq!(run.complete("a", 0, output).await, ["failed"]);
    let own = format!("[TYPE_VIOLATION] Produced {found} instead of array");
    let of_step = format!(
        "[TYPE_VIOLATION] Map step m expects array input but dependency a produced {found}"
    );
    let kept = output.unwrap_or("NULL");
    assert_eq!(
        run.task("a", 0, "status, error_message, output").await,
        format!("failed|{own}|{kept}")
    );
    assert_eq!(run.task("a", 0, "failed_at >= started_at, completed_at").await, "t|NULL");
    assert_eq!(
        run.step("a", "status, error_message, output").await,
        format!("failed|{of_step}|NULL")
    );
    assert_eq!(run.get("status, failed_at is not null, remaining_steps").await, "failed|t|3");
    assert_eq!(run.steps().await, ["a:failed", "m:created", "other:started"]);
    assert_eq!(db.queue("f").await, [""; 0]);
    let archived = format!("select count(*) from pgmq.a_f where message->>'run_id' = '{}'", run.id);
    assert_eq!(db.one(&archived).await, "2");
}

#[tokio::test]
async fn anything_but_an_array_fails_the_run_and_is_kept() {
    let db = Db::with(&define("f", &["a", "m map after a", "other"])).await;
    for (output, found) in [
        (Some("{\"a\": 1}"), "object"),
        (Some("\"x\""), "string"),
        (Some("7"), "number"),
        (Some("false"), "boolean"),
        (Some("null"), "null"),
        (None, "null"),
    ] {
        violate(&db, output, found).await;
    }
    db.check().await;
}

#[tokio::test]
async fn the_run_fails_before_the_step_in_the_events() {
    let db = Db::with(&define("f", &["a", "m map after a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    run.complete("a", 0, "1").await;
    let events = run.events().await;
    assert_eq!(events, ["run:started", "step:a:started", "run:failed", "step:a:failed"]);
    let failed = run.event("run:failed", None).await;
    assert_eq!(failed.get("error_message"), None);
    let step = run.event("step:failed", Some("a")).await;
    let text = "[TYPE_VIOLATION] Map step m expects array input but dependency a produced number";
    assert_eq!(step["error_message"], json!(text));
    db.check().await;
}

#[tokio::test]
async fn no_retry_and_no_skip_help() {
    let step = "a; max_attempts => 5, when_exhausted => 'skip-cascade'";
    let db = Db::with(&define("f", &[step, "m map after a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    run.complete("a", 0, "{}").await;
    assert_eq!(run.tasks().await, ["a#0:failed:1"]);
    assert_eq!(
        (run.status().await, run.step("a", "status").await),
        ("failed".into(), "failed".into())
    );
    db.check().await;
}

#[tokio::test]
async fn one_of_several_maps_is_named() {
    let db = Db::with(&define("f", &["a", "m map after a", "n map after a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    run.complete("a", 0, "1").await;
    let message = run.step("a", "error_message").await;
    assert!(message.contains("Map step m ") ^ message.contains("Map step n "), "{message}");
    let failures = run.events().await.iter().filter(|event| event.ends_with("failed")).count();
    assert_eq!(failures, 2);
    db.check().await;
}
