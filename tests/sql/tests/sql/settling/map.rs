//! Map steps.

use crate::harness::{Db, define};

#[tokio::test]
async fn outputs_are_in_the_order_of_the_elements() {
    let db = Db::with(&define("f", &["m map"])).await;
    let run = db.start("f", "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]").await;
    db.claim("f").await;
    for index in [11, 3, 0, 7, 1, 10, 2, 9, 4, 8, 5, 6] {
        assert_eq!(run.step("m", "status").await, "started");
        run.complete("m", index, format!("{}", index * 10).as_str()).await;
    }
    let expected = "[0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110]";
    assert_eq!(
        run.step("m", "status, remaining_tasks, output").await,
        format!("completed|0|{expected}")
    );
    assert_eq!(run.get("output->'m'").await, expected);
    db.check().await;
}

#[tokio::test]
async fn the_step_counts_down() {
    let db = Db::with(&define("f", &["m map", "z after m"])).await;
    let run = db.start("f", "[1, 2, 3]").await;
    db.claim("f").await;
    for left in [2, 1] {
        run.complete("m", left, "1").await;
        let state = "status, remaining_tasks, initial_tasks, output, completed_at";
        assert_eq!(run.step("m", state).await, format!("started|{left}|3|NULL|NULL"));
        assert_eq!(run.steps().await, ["m:started", "z:created"]);
        db.check().await;
    }
    run.complete("m", 0, "1").await;
    assert_eq!(run.steps().await, ["m:completed", "z:started"]);
    db.check().await;
}

#[tokio::test]
async fn null_outputs_keep_their_place() {
    let db = Db::with(&define("f", &["m map"])).await;
    let run = db.start("f", "[1, 2, 3]").await;
    db.claim("f").await;
    run.complete("m", 2, "[]").await;
    run.complete("m", 1, None).await;
    run.complete("m", 0, "null").await;
    assert_eq!(run.step("m", "output").await, "[null, null, []]");
    assert_eq!(run.task("m", 1, "output").await, "NULL");
    assert_eq!(run.task("m", 0, "output").await, "null");
    db.check().await;
}

#[tokio::test]
async fn a_dependent_map_is_as_wide_as_the_array() {
    let db = Db::with(&define("f", &["a", "m map after a"])).await;
    let run = db.start("f", "{}").await;
    assert_eq!(run.step("m", "initial_tasks").await, "NULL");
    run.finish("a", "[5, null, 7]").await;
    assert_eq!(run.step("m", "status, initial_tasks, remaining_tasks").await, "started|3|3");
    assert_eq!(db.queue("f").await, ["m#0", "m#1", "m#2"]);
    db.check().await;
}

#[tokio::test]
async fn a_map_after_a_map_is_as_wide_as_its_parent() {
    let db = Db::with(&define("f", &["m map", "n map after m"])).await;
    let run = db.start("f", "[1, 2]").await;
    db.claim("f").await;
    run.complete("m", 1, "\"not an array\"").await;
    run.complete("m", 0, None).await;
    assert_eq!(run.step("n", "status, initial_tasks").await, "started|2");
    let inputs: Vec<_> = db.claim("f").await.into_iter().map(|task| task.input).collect();
    assert_eq!(inputs, [serde_json::json!(null), serde_json::json!("not an array")]);
    run.complete("n", 0, "1").await;
    run.complete("n", 1, "2").await;
    assert_eq!(run.get("status, output").await, r#"completed|{"n": [1, 2]}"#);
    db.check().await;
}

#[tokio::test]
async fn one_array_can_feed_two_maps_and_a_single() {
    let db =
        Db::with(&define("f", &["a", "m map after a", "n map after a", "s after a m n"])).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "[1]").await;
    db.claim("f").await;
    run.complete("m", 0, "2").await;
    run.complete("n", 0, "3").await;
    let task = db.claim("f").await.remove(0);
    assert_eq!(task.input, serde_json::json!({"run": {}, "a": [1], "m": [2], "n": [3]}));
    db.check().await;
}
