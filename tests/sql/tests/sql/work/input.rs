//! The input of a task.

use serde_json::{Value, json};

use crate::harness::{Db, define};

async fn inputs(db: &Db) -> Vec<Value> {
    db.claim("f").await.into_iter().map(|task| task.input).collect()
}

#[tokio::test]
async fn a_root_gets_the_run_under_its_key() {
    let db = Db::with(&define("f", &["a"])).await;
    db.start("f", r#"{"n": 1}"#).await;
    assert_eq!(inputs(&db).await, [json!({"run": {"n": 1}})]);
    db.check().await;
}

#[tokio::test]
async fn a_dependent_gets_the_run_and_every_dependency() {
    let db = Db::with(&define("f", &["a", "b", "m map after a", "c after a b m"])).await;
    let run = db.start("f", "1").await;
    run.finish("a", "[10, 20]").await;
    run.finish("b", None).await;
    db.claim("f").await;
    run.complete("m", 1, "\"second\"").await;
    run.complete("m", 0, "\"first\"").await;
    let expected = json!({"run": 1, "a": [10, 20], "b": null, "m": ["first", "second"]});
    assert_eq!(inputs(&db).await, [expected]);
    db.check().await;
}

#[tokio::test]
async fn a_grandparent_is_not_part_of_the_input() {
    let db = Db::with(&define("f", &["a", "b after a", "c after b"])).await;
    let run = db.start("f", "0").await;
    run.finish("a", "1").await;
    run.finish("b", "2").await;
    assert_eq!(inputs(&db).await, [json!({"run": 0, "b": 2})]);
    db.check().await;
}

#[tokio::test]
async fn a_skipped_dependency_is_absent() {
    let skipped = r#"b; required_input_pattern => '{"go": 1}'"#;
    let db = Db::with(&define("f", &["a", skipped, "c after a b", "d after b"])).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "null").await;
    let tasks = db.claim("f").await;
    assert_eq!(tasks.len(), 1, "d was claimed with a");
    assert_eq!(tasks[0].input, json!({"run": {}, "a": null}));
    assert_eq!(run.task("d", 0, "status").await, "started");
    db.check().await;
}

#[tokio::test]
async fn map_tasks_get_their_element_as_it_is() {
    let db = Db::with(&define("f", &["a", "m map after a", "n map after m"])).await;
    let run = db.start("f", "{}").await;
    run.finish("a", r#"[0, null, "", [1], {"k": 2}]"#).await;
    let elements = [json!(0), json!(null), json!(""), json!([1]), json!({"k": 2})];
    assert_eq!(inputs(&db).await, elements);
    for index in 0..5 {
        run.complete("m", index, Some(format!("{}", index * 10).as_str()).filter(|_| index != 3))
            .await;
    }
    assert_eq!(inputs(&db).await, [json!(0), json!(10), json!(20), json!(null), json!(40)]);
    db.check().await;
}

#[tokio::test]
async fn elements_keep_their_place_when_taken_one_by_one() {
    let db = Db::with(&define("f", &["m map"])).await;
    db.start("f", "[\"a\", \"b\", \"c\", \"d\"]").await;
    let mut seen = Vec::new();
    while let [task] = db.claim_up_to("f", 1).await.as_slice() {
        seen.push((task.index, task.input.clone()));
    }
    assert_eq!(seen, [(0, json!("a")), (1, json!("b")), (2, json!("c")), (3, json!("d"))]);
    db.check().await;
}

#[tokio::test]
async fn a_retry_gets_the_same_input() {
    let db = Db::with(&define("f", &["m map"])).await;
    let run = db.start("f", "[5, 6]").await;
    assert_eq!(inputs(&db).await, [json!(5), json!(6)]);
    run.fail("m", 1, "again").await;
    assert_eq!(inputs(&db).await, [json!(6)]);
    db.check().await;
}
