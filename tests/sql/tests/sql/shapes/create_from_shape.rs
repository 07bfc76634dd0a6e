//! `_create_flow_from_shape`.

use serde_json::json;

use crate::harness::{Db, lit};

#[tokio::test]
async fn options_patterns_and_modes_are_taken_over() {
    let db = Db::new().await;
    let shape = json!({
        "options": {"maxAttempts": 1, "baseDelay": 2, "timeout": 3},
        "steps": [
            {"slug": "a", "stepType": "single", "dependencies": [],
             "options": {"maxAttempts": 4, "baseDelay": 5, "timeout": 6, "startDelay": 7, "waitTimeout": 8}},
            {"slug": "m", "stepType": "map", "dependencies": ["a"], "whenUnmet": "fail", "whenExhausted": "skip",
             "requiredInputPattern": {"defined": true, "value": {"a": [1]}},
             "forbiddenInputPattern": {"defined": false, "value": {"ignored": 1}}},
        ],
    });
    db.run(&format!("select pgflow._create_flow_from_shape('f', {})", lit(&shape.to_string())))
        .await;
    let flow = "select opt_max_attempts, opt_base_delay, opt_timeout from pgflow.flows";
    assert_eq!(db.one(flow).await, "1|2|3");
    let steps =
        "select step_slug, step_type, deps_count, opt_max_attempts, opt_base_delay, opt_timeout,
        opt_start_delay, opt_wait_timeout, when_unmet, when_exhausted, required_input_pattern, forbidden_input_pattern
        from pgflow.steps order by step_index";
    let expected = [
        "a|single|0|4|5|6|7|8|skip|fail|NULL|NULL",
        r#"m|map|1|NULL|NULL|NULL|NULL|NULL|fail|skip|{"a": [1]}|NULL"#,
    ];
    assert_eq!(db.rows(steps).await, expected);
    db.check().await;
}

#[tokio::test]
async fn missing_options_get_the_defaults_of_create_flow() {
    let db = Db::new().await;
    db.run(r#"select pgflow._create_flow_from_shape('f', '{"steps": []}')"#).await;
    let flow = "select opt_max_attempts, opt_base_delay, opt_timeout from pgflow.flows";
    assert_eq!(db.one(flow).await, "3|5|60");
    db.check().await;
}
