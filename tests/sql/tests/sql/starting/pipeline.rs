//! After any progress: conditions, empty maps, starts, completion, in this order.

use crate::harness::{Db, define};

#[tokio::test]
async fn one_start_can_do_it_all() {
    let steps = [
        r#"skipped; required_input_pattern => '{"go": 1}'"#,
        "empty map after skipped",
        "last after empty",
    ];
    let db = Db::with(&define("f", &steps)).await;
    let run = db.start("f", "{}").await;
    assert_eq!(run.steps().await, ["skipped:skipped", "empty:completed", "last:started"]);
    let expected =
        ["run:started", "step:skipped:skipped", "step:empty:completed", "step:last:started"];
    assert_eq!(run.events().await, expected);
    let tasks = db.claim("f").await;
    assert_eq!(tasks[0].input, serde_json::json!({"run": {}, "empty": []}));
    db.check().await;
}

#[tokio::test]
async fn a_start_that_leaves_nothing_to_do_completes_the_run() {
    let db = Db::with(&define("f", &["m map", "n map after m"])).await;
    let run = db.start("f", "[]").await;
    assert_eq!(run.get("status, output, remaining_steps").await, r#"completed|{"n": []}|0"#);
    let expected = ["run:started", "step:m:completed", "step:n:completed", "run:completed"];
    assert_eq!(run.events().await, expected);
    db.check().await;
}
