//! `_get_flow_shape`.

use serde_json::{Value, json};

use crate::harness::{Db, define};

async fn shape(db: &Db, flow: &str) -> Value {
    let text = db.one(&format!("select pgflow._get_flow_shape(p_flow_slug => '{flow}')")).await;
    serde_json::from_str(&text).expect("JSON")
}

#[tokio::test]
async fn a_shape_has_everything_but_options() {
    let steps = [
        "z; max_attempts => 9, timeout => 8, base_delay => 7, start_delay => 6",
        r#"m map after z; required_input_pattern => '{"z": [1]}', when_unmet => 'fail'"#,
        "a after z m; forbidden_input_pattern => '{}', when_exhausted => 'skip-cascade'",
    ];
    let db = Db::with(&define("f", &steps)).await;
    let absent = json!({"defined": false});
    let step = |slug: &str,
                kind: &str,
                deps: Value,
                modes: [&str; 2],
                required: &Value,
                forbidden: &Value| {
        json!({"slug": slug, "stepType": kind, "dependencies": deps, "whenUnmet": modes[0],
               "whenExhausted": modes[1], "requiredInputPattern": required, "forbiddenInputPattern": forbidden})
    };
    let expected = json!({"steps": [
        step("z", "single", json!([]), ["skip", "fail"], &absent, &absent),
        step("m", "map", json!(["z"]), ["fail", "fail"], &json!({"defined": true, "value": {"z": [1]}}), &absent),
        step("a", "single", json!(["m", "z"]), ["skip", "skip-cascade"], &absent, &json!({"defined": true, "value": {}})),
    ]});
    assert_eq!(shape(&db, "f").await, expected);
}

#[tokio::test]
async fn an_unknown_flow_has_no_steps() {
    let db = Db::with(&define("empty", &[])).await;
    assert_eq!(shape(&db, "nope").await, json!({"steps": []}));
    assert_eq!(shape(&db, "empty").await, json!({"steps": []}));
}
