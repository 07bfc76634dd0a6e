//! The payloads of runs and of steps that do their work.

use serde_json::{Value, json};

use crate::harness::{Db, define};

/// The keys of a payload besides those that every event has, after a look at those.
pub(super) fn keys(payload: &Value, event_type: &str, status: &str) -> Vec<String> {
    assert_eq!(payload["event_type"], event_type);
    assert_eq!(payload["status"], status);
    assert!(payload["run_id"].is_string());
    let all = payload.as_object().expect("object").keys().cloned();
    all.filter(|key| !["event_type", "status", "run_id"].contains(&key.as_str())).collect()
}

#[tokio::test]
async fn a_started_run() {
    let db = Db::with(&define("f", &["a", "b after a"])).await;
    let run = db.start("f", r#"{"n": 1}"#).await;
    let event = run.event("run:started", None).await;
    assert_eq!(
        keys(&event, "run:started", "started"),
        ["flow_slug", "input", "remaining_steps", "started_at"]
    );
    assert_eq!(event["run_id"], json!(run.id.to_string()));
    let values = (&event["flow_slug"], &event["input"], &event["remaining_steps"]);
    assert_eq!(values, (&json!("f"), &json!({"n": 1}), &json!(2)));
    let stored: Value = serde_json::from_str(&run.get("to_jsonb(started_at)").await).expect("JSON");
    assert_eq!(event["started_at"], stored, "a timestamp is an ISO string");
    db.check().await;
}

#[tokio::test]
async fn a_completed_run() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "[1]").await;
    let event = run.event("run:completed", None).await;
    assert_eq!(keys(&event, "run:completed", "completed"), ["completed_at", "flow_slug", "output"]);
    assert_eq!(event["output"], json!({"a": [1]}));
    let stored: Value =
        serde_json::from_str(&run.get("to_jsonb(completed_at)").await).expect("JSON");
    assert_eq!(event["completed_at"], stored);
    db.check().await;
}

#[tokio::test]
async fn a_failed_run_and_its_step() {
    let db = Db::with(&define("f", &["a; max_attempts => 1"])).await;
    let run = db.start("f", "{}").await;
    run.exhaust("a", "boom").await;
    let event = run.event("run:failed", None).await;
    assert_eq!(keys(&event, "run:failed", "failed"), ["error_message", "failed_at", "flow_slug"]);
    assert_eq!(event["error_message"], "boom");
    let event = run.event("step:failed", Some("a")).await;
    assert_eq!(keys(&event, "step:failed", "failed"), ["error_message", "failed_at", "step_slug"]);
    assert_eq!((&event["error_message"], &event["step_slug"]), (&json!("boom"), &json!("a")));
    db.check().await;
}

#[tokio::test]
async fn a_type_violation() {
    let db = Db::with(&define("f", &["a", "m map after a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    run.complete("a", 0, "1").await;
    let event = run.event("run:failed", None).await;
    assert_eq!(keys(&event, "run:failed", "failed"), ["failed_at", "flow_slug"]);
    let event = run.event("step:failed", Some("a")).await;
    assert_eq!(keys(&event, "step:failed", "failed"), ["error_message", "failed_at", "step_slug"]);
    db.check().await;
}

#[tokio::test]
async fn a_started_step() {
    let db = Db::with(&define("f", &["m map"])).await;
    let run = db.start("f", "[1, 2, 3]").await;
    let event = run.event("step:started", Some("m")).await;
    let expected = ["remaining_deps", "remaining_tasks", "started_at", "step_slug"];
    assert_eq!(keys(&event, "step:started", "started"), expected);
    let values = (&event["remaining_tasks"], &event["remaining_deps"], &event["step_slug"]);
    assert_eq!(values, (&json!(3), &json!(0), &json!("m")));
    db.check().await;
}

#[tokio::test]
async fn a_completed_step() {
    let db = Db::with(&define("f", &["m map", "a"])).await;
    let run = db.start("f", "[1, 2]").await;
    db.claim("f").await;
    run.complete("m", 1, "20").await;
    run.complete("m", 0, "10").await;
    let event = run.event("step:completed", Some("m")).await;
    assert_eq!(
        keys(&event, "step:completed", "completed"),
        ["completed_at", "output", "step_slug"]
    );
    assert_eq!(event["output"], json!([10, 20]));
    run.complete("a", 0, None).await;
    let event = run.event("step:completed", Some("a")).await;
    assert_eq!(event["output"], json!(null));
    db.check().await;
}

#[tokio::test]
async fn a_step_that_completed_without_tasks() {
    let db = Db::with(&define("f", &["m map"])).await;
    let run = db.start("f", "[]").await;
    let event = run.event("step:completed", Some("m")).await;
    let expected =
        ["completed_at", "output", "remaining_deps", "remaining_tasks", "started_at", "step_slug"];
    assert_eq!(keys(&event, "step:completed", "completed"), expected);
    let values = (&event["output"], &event["remaining_tasks"], &event["remaining_deps"]);
    assert_eq!(values, (&json!([]), &json!(0), &json!(0)));
    assert_eq!(event["started_at"], event["completed_at"]);
    db.check().await;
}
