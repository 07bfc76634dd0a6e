//! The output of a run is what its leaves put out.

use crate::harness::{Db, define};

#[tokio::test]
async fn only_leaves_are_in_the_output() {
    let db = Db::with(&define("f", &["a", "b after a", "c after a", "d"])).await;
    let run = db.start("f", "{}").await;
    for (step, output) in [("a", "1"), ("b", "[2]"), ("c", "{}")] {
        run.finish(step, output).await;
        assert_eq!(run.get("output").await, "NULL");
    }
    run.finish("d", "null").await;
    assert_eq!(run.get("status, output").await, r#"completed|{"b": [2], "c": {}, "d": null}"#);
    assert_eq!(run.get("completed_at >= started_at, remaining_steps").await, "t|0");
    db.check().await;
}

#[tokio::test]
async fn falsy_outputs_stay_what_they_are() {
    let db = Db::with(&define("f", &["a", "b", "c", "d", "e", "g"])).await;
    let run = db.start("f", "{}").await;
    for (step, output) in [("a", "0"), ("b", "false"), ("c", "\"\""), ("d", "[]"), ("e", "{}")] {
        run.finish(step, output).await;
    }
    run.finish("g", None).await;
    let expected = r#"{"a": 0, "b": false, "c": "", "d": [], "e": {}, "g": null}"#;
    assert_eq!(run.get("output").await, expected);
    db.check().await;
}

#[tokio::test]
async fn skipped_leaves_are_absent() {
    let skipped = r#"b; required_input_pattern => '{"go": 1}'"#;
    let db = Db::with(&define("f", &["a", skipped])).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "1").await;
    assert_eq!(run.get("status, output").await, r#"completed|{"a": 1}"#);
    db.check().await;
}

#[tokio::test]
async fn the_output_is_null_when_every_leaf_is_skipped() {
    let skipped = r#"b after a; required_input_pattern => '{"a": 7}'"#;
    let db = Db::with(&define("f", &["a", skipped])).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "1").await;
    assert_eq!(run.get("status, output").await, "completed|NULL");
    db.check().await;
}
