//! Maps without elements.

use crate::harness::{Db, define, define_maps};

#[tokio::test]
async fn an_empty_array_completes_the_map_in_the_same_call() {
    let db = Db::with(&define("f", &["a", "m map after a", "z after m"])).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "[]").await;
    let state = "status, initial_tasks, remaining_tasks, output, started_at = completed_at";
    assert_eq!(run.step("m", state).await, "completed|0|0|[]|t");
    assert_eq!(run.steps().await, ["a:completed", "m:completed", "z:started"]);
    let task = db.claim("f").await.remove(0);
    assert_eq!(
        task.input,
        serde_json::json!({"run": {}, "m": []}),
        "a single step gets the empty array"
    );
    db.check().await;
}

#[tokio::test]
async fn a_chain_of_maps_falls_like_dominoes() {
    let steps = ["a", "m map after a", "n map after m", "o map after n"];
    let db = Db::with(&define("f", &steps)).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "[]").await;
    assert_eq!(run.get("status, output, remaining_steps").await, r#"completed|{"o": []}|0"#);
    let expected = [
        "run:started",
        "step:a:started",
        "step:a:completed",
        "step:m:completed",
        "step:n:completed",
        "step:o:completed",
        "run:completed",
    ];
    assert_eq!(run.events().await, expected);
    assert_eq!(run.tasks().await, ["a#0:completed:1"]);
    db.check().await;
}

#[tokio::test]
async fn conditions_behind_an_empty_map_are_looked_at() {
    let steps = [
        "m map",
        r#"wants after m; required_input_pattern => '{"m": [1]}'"#,
        r#"shuns after m; forbidden_input_pattern => '{"m": []}', when_unmet => 'skip-cascade'"#,
        "below after shuns",
        r#"likes after m; required_input_pattern => '{"m": []}'"#,
    ];
    let db = Db::with(&define("f", &steps)).await;
    let run = db.start("f", "[]").await;
    let expected =
        ["m:completed", "wants:skipped", "shuns:skipped", "below:skipped", "likes:started"];
    assert_eq!(run.steps().await, expected);
    run.finish("likes", "1").await;
    assert_eq!(run.get("status, output").await, r#"completed|{"likes": 1}"#);
    db.check().await;
}

#[tokio::test]
async fn a_condition_behind_an_empty_map_can_fail_the_run() {
    let fails = r#"b after m; required_input_pattern => '{"m": [1]}', when_unmet => 'fail'"#;
    let db = Db::with(&define("f", &["a", "m map after a", fails, "z"])).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "[]").await;
    assert_eq!(run.status().await, "failed");
    assert_eq!(
        run.step("b", "status, error_message, started_at").await,
        "failed|Condition not met|NULL"
    );
    assert_eq!(db.queue("f").await, [""; 0]);
    db.check().await;
}

#[tokio::test]
async fn forty_empty_maps_in_a_row_fall_in_one_call() {
    let db = Db::with(&define_maps("f", 40)).await;
    let run = db.start("f", "[]").await;
    assert_eq!(run.get("status, output").await, r#"completed|{"m39": []}"#);
    db.check().await;
}
