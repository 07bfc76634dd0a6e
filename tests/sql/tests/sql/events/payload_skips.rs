//! The payloads of skips and unmet conditions.

use serde_json::json;

use super::payload::keys;
use crate::harness::{Db, define};

const UNMET: &str = r#"required_input_pattern => '{"go": 1}'"#;

#[tokio::test]
async fn skipped_by_a_condition_or_a_dependency() {
    let steps = [
        &format!("a; {UNMET}"),
        &format!("b; {UNMET}, when_unmet => 'skip-cascade'"),
        "c after b",
        "z",
    ];
    let db = Db::with(&define("f", &steps)).await;
    let run = db.start("f", "{}").await;
    for (step, reason) in
        [("a", "condition_unmet"), ("b", "condition_unmet"), ("c", "dependency_skipped")]
    {
        let event = run.event("step:skipped", Some(step)).await;
        let expected = ["flow_slug", "skip_reason", "skipped_at", "step_slug"];
        assert_eq!(keys(&event, "step:skipped", "skipped"), expected, "{step}");
        assert_eq!((&event["skip_reason"], &event["flow_slug"]), (&json!(reason), &json!("f")));
    }
    db.check().await;
}

#[tokio::test]
async fn skipped_by_a_failed_handler() {
    for mode in ["skip", "skip-cascade"] {
        let step = format!("a; max_attempts => 1, when_exhausted => '{mode}'");
        let db = Db::with(&define("f", &[&step, "z"])).await;
        let run = db.start("f", "{}").await;
        run.exhaust("a", "boom").await;
        let event = run.event("step:skipped", Some("a")).await;
        let expected = ["error_message", "skip_reason", "skipped_at", "step_slug"];
        assert_eq!(keys(&event, "step:skipped", "skipped"), expected);
        assert_eq!(
            (&event["skip_reason"], &event["error_message"]),
            (&json!("handler_failed"), &json!("boom"))
        );
        db.check().await;
    }
}

#[tokio::test]
async fn failed_by_a_condition() {
    let db = Db::with(&define("f", &[&format!("a; {UNMET}, when_unmet => 'fail'")])).await;
    let run = db.start("f", "{}").await;
    let event = run.event("step:failed", Some("a")).await;
    assert_eq!(keys(&event, "step:failed", "failed"), ["error_message", "failed_at", "step_slug"]);
    let event = run.event("run:failed", None).await;
    assert_eq!(keys(&event, "run:failed", "failed"), ["error_message", "failed_at", "flow_slug"]);
    db.check().await;
}
