//! What conditions are held against, and when.

use crate::harness::{Db, define};

#[tokio::test]
async fn a_skipped_dependency_is_not_a_null() {
    let steps = [
        r#"a; required_input_pattern => '{"go": true}'"#,
        r#"b after a; forbidden_input_pattern => '{"a": null}'"#,
    ];
    let db = Db::with(&define("f", &steps)).await;
    let run = db.start("f", "{}").await;
    assert_eq!(run.steps().await, ["a:skipped", "b:started"]);
    db.check().await;
}

#[tokio::test]
async fn an_empty_map_behind_an_empty_map_has_its_condition() {
    let steps = [
        "m map",
        r#"n map after m; required_input_pattern => '{"m": [1]}'"#,
        r#"o map after m; required_input_pattern => '{"m": []}'"#,
    ];
    let db = Db::with(&define("f", &steps)).await;
    let run = db.start("f", "[]").await;
    assert_eq!(run.steps().await, ["m:completed", "n:skipped", "o:completed"]);
    assert_eq!(run.get("status, output").await, r#"completed|{"o": []}"#);
    db.check().await;
}
