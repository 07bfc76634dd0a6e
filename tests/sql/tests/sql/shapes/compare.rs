//! `_compare_flow_shapes`.

use serde_json::{Value, json};

use crate::harness::{Db, lit};

fn step(slug: &str) -> Value {
    json!({"slug": slug, "stepType": "single", "dependencies": [], "whenUnmet": "skip", "whenExhausted": "fail",
           "requiredInputPattern": {"defined": false}, "forbiddenInputPattern": {"defined": false}})
}

fn with(slug: &str, changes: &Value) -> Value {
    let mut step = step(slug);
    for (key, value) in changes.as_object().expect("object") {
        step[key] = value.clone();
    }
    step
}

fn without(slug: &str, key: &str) -> Value {
    let mut step = step(slug);
    step.as_object_mut().expect("object").remove(key);
    step
}

async fn compare(db: &Db, local: Vec<Value>, stored: Vec<Value>) -> Vec<String> {
    let shape = |steps: Vec<Value>| lit(&json!({"steps": steps}).to_string());
    let call = format!(
        "pgflow._compare_flow_shapes(p_local => {}, p_db => {})",
        shape(local),
        shape(stored)
    );
    db.rows(&format!("select unnest({call})")).await
}

#[tokio::test]
async fn equal_shapes_have_no_differences() {
    let db = Db::new().await;
    assert_eq!(compare(&db, vec![], vec![]).await, [""; 0]);
    assert_eq!(compare(&db, vec![step("a"), step("b")], vec![step("a"), step("b")]).await, [""; 0]);
    assert_eq!(
        db.one(r#"select pgflow._compare_flow_shapes('{"steps": []}', '{"steps": []}')"#).await,
        "{}"
    );
}

#[tokio::test]
async fn each_difference_has_its_sentence() {
    let db = Db::new().await;
    let pattern = |value: Value| json!({"defined": true, "value": value});
    let cases = [
        (json!({"stepType": "map"}), "type differs 'map' vs 'single'".to_owned()),
        (json!({"dependencies": ["y", "x"]}), "dependencies differ [x, y] vs []".to_owned()),
        (json!({"whenUnmet": "fail"}), "whenUnmet differs 'fail' vs 'skip'".to_owned()),
        (json!({"whenExhausted": "skip"}), "whenExhausted differs 'skip' vs 'fail'".to_owned()),
        (
            json!({"requiredInputPattern": pattern(json!({"a": 1}))}),
            r#"requiredInputPattern differs '{"value": {"a": 1}, "defined": true}' vs '{"defined": false}'"#.to_owned(),
        ),
        (
            json!({"forbiddenInputPattern": pattern(json!({}))}),
            r#"forbiddenInputPattern differs '{"value": {}, "defined": true}' vs '{"defined": false}'"#.to_owned(),
        ),
    ];
    for (change, text) in cases {
        let found =
            compare(&db, vec![step("a"), with("b", &change)], vec![step("a"), step("b")]).await;
        assert_eq!(found, [format!("Step at index 1: {text}")]);
    }
    let found = compare(&db, vec![step("a")], vec![step("b")]).await;
    assert_eq!(found, ["Step at index 0: slug differs 'a' vs 'b'"]);
}

#[tokio::test]
async fn missing_steps_are_named_after_the_count() {
    let db = Db::new().await;
    let one = || vec![step("a")];
    let three = || vec![step("a"), step("b"), step("c")];
    let expected = [
        "Step count differs: 1 vs 3",
        "Step at index 1: missing in first shape (second has 'b')",
        "Step at index 2: missing in first shape (second has 'c')",
    ];
    assert_eq!(compare(&db, one(), three()).await, expected);
    let expected = [
        "Step count differs: 3 vs 1",
        "Step at index 1: missing in second shape (first has 'b')",
        "Step at index 2: missing in second shape (first has 'c')",
    ];
    assert_eq!(compare(&db, three(), one()).await, expected);
}

#[tokio::test]
async fn differences_come_in_the_order_of_the_list() {
    let db = Db::new().await;
    let other = with(
        "b",
        &json!({"stepType": "map", "dependencies": ["x"], "whenUnmet": "fail",
        "whenExhausted": "skip", "requiredInputPattern": {"defined": true, "value": {}},
        "forbiddenInputPattern": {"defined": true, "value": {}}}),
    );
    let found = compare(&db, vec![step("a")], vec![other]).await;
    let words: Vec<_> =
        found.iter().map(|text| text.split(' ').nth(4).expect("a word").to_owned()).collect();
    let expected = [
        "slug",
        "type",
        "dependencies",
        "whenUnmet",
        "whenExhausted",
        "requiredInputPattern",
        "forbiddenInputPattern",
    ];
    assert_eq!(words, expected);
}

#[tokio::test]
async fn dependencies_are_compared_sorted() {
    let db = Db::new().await;
    let deps = |list: Value| vec![step("x"), step("y"), with("a", &json!({"dependencies": list}))];
    assert_eq!(compare(&db, deps(json!(["x", "y"])), deps(json!(["y", "x"]))).await, [""; 0]);
}

#[tokio::test]
async fn only_a_missing_pattern_is_a_difference() {
    let db = Db::new().await;
    for key in ["slug", "stepType", "whenUnmet", "whenExhausted"] {
        assert_eq!(compare(&db, vec![without("a", key)], vec![step("a")]).await, [""; 0], "{key}");
        assert_eq!(compare(&db, vec![step("a")], vec![without("a", key)]).await, [""; 0], "{key}");
    }
    for key in ["requiredInputPattern", "forbiddenInputPattern"] {
        assert_eq!(compare(&db, vec![without("a", key)], vec![step("a")]).await.len(), 1, "{key}");
        assert_eq!(compare(&db, vec![step("a")], vec![without("a", key)]).await.len(), 1, "{key}");
    }
}

#[tokio::test]
async fn options_are_never_compared() {
    let db = Db::new().await;
    let local = vec![with("a", &json!({"options": {"maxAttempts": 9}}))];
    assert_eq!(compare(&db, local, vec![step("a")]).await, [""; 0]);
    let call = r#"pgflow._compare_flow_shapes('{"steps": [], "options": {"timeout": 1}}', '{"steps": []}')"#;
    assert_eq!(db.one(&format!("select {call}")).await, "{}");
}
