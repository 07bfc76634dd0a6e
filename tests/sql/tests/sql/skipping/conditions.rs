//! Conditions that skip a step.

use serde_json::json;

use crate::harness::{Db, define};

/// A lone root step with one pattern takes that status.
async fn roots(kind: &str, cases: &[(&str, &str, &str)]) {
    let db = Db::new().await;
    for (number, (pattern, input, status)) in cases.iter().enumerate() {
        let flow = format!("f{number}");
        db.run(&define(&flow, &[&format!("a; {kind} => '{pattern}'"), "z"])).await;
        let run = db.start(&flow, input).await;
        assert_eq!(run.step("a", "status").await, *status, "{kind} {pattern} with {input}");
    }
    db.check().await;
}

#[tokio::test]
async fn a_root_runs_when_the_input_contains_the_pattern() {
    let cases = [
        (r#"{"a": 1}"#, r#"{"a": 1, "b": 2}"#, "started"),
        (r#"{"a": 1}"#, r#"{"a": 2}"#, "skipped"),
        (r#"{"a": {"b": []}}"#, r#"{"a": {"b": [1]}}"#, "started"),
        ("{}", r#"{"a": 2}"#, "started"),
        ("{}", "[]", "skipped"),
        ("{}", "null", "skipped"),
    ];
    roots("required_input_pattern", &cases).await;
}

#[tokio::test]
async fn a_root_does_not_run_when_the_input_contains_what_is_forbidden() {
    let cases = [
        (r#"{"a": 1}"#, r#"{"a": 1, "b": 2}"#, "skipped"),
        (r#"{"a": 1}"#, r#"{"a": 2}"#, "started"),
        ("{}", "{}", "skipped"),
        ("{}", "[]", "started"),
    ];
    roots("forbidden_input_pattern", &cases).await;
}

#[tokio::test]
async fn both_patterns_must_agree() {
    let step = r#"a; required_input_pattern => '{"a": 1}', forbidden_input_pattern => '{"b": 1}'"#;
    let db = Db::with(&define("f", &[step, "z"])).await;
    for (input, status) in
        [(r#"{"a": 1}"#, "started"), (r#"{"a": 1, "b": 1}"#, "skipped"), ("{}", "skipped")]
    {
        assert_eq!(db.start("f", input).await.step("a", "status").await, status, "{input}");
    }
    db.check().await;
}

#[tokio::test]
async fn a_skipped_step_says_so() {
    let db = Db::with(&define("f", &[r#"a; required_input_pattern => '{"a": 1}'"#, "z"])).await;
    let run = db.start("f", "{}").await;
    let state =
        "status, skip_reason, error_message, remaining_tasks, started_at, skipped_at is not null";
    assert_eq!(run.step("a", state).await, "skipped|condition_unmet|NULL|NULL|NULL|t");
    assert_eq!(run.get("remaining_steps").await, "1");
    assert_eq!(db.queue("f").await, ["z#0"]);
    db.check().await;
}

#[tokio::test]
async fn a_dependent_looks_at_its_dependencies_outputs() {
    let steps = [
        "a",
        "b",
        r#"c after a b; required_input_pattern => '{"a": {"ok": true}}', forbidden_input_pattern => '{"b": 0}'"#,
    ];
    let db = Db::with(&define("f", &steps)).await;
    for (a, b, status) in [
        (r#"{"ok": true}"#, "1", "started"),
        (r#"{"ok": true}"#, "0", "skipped"),
        (r#"{"ok": false}"#, "1", "skipped"),
    ] {
        let run = db.start("f", r#"{"a": {"ok": true}}"#).await;
        run.finish("a", a).await;
        assert_eq!(run.step("c", "status").await, "created", "not before it is ready");
        run.finish("b", b).await;
        assert_eq!(run.step("c", "status").await, status, "{a} {b}");
    }
    db.check().await;
}

#[tokio::test]
async fn a_skipped_dependency_is_no_part_of_what_is_tested() {
    let steps = [
        r#"a; required_input_pattern => '{"go": 1}'"#,
        r#"wants after a; required_input_pattern => '{"a": {}}'"#,
        r#"shuns after a; forbidden_input_pattern => '{"a": {}}'"#,
        "any after a; required_input_pattern => '{}'",
    ];
    let db = Db::with(&define("f", &steps)).await;
    let run = db.start("f", "{}").await;
    assert_eq!(run.steps().await, ["a:skipped", "wants:skipped", "shuns:started", "any:started"]);
    db.check().await;
}

#[tokio::test]
async fn an_array_never_meets_an_object() {
    let steps = [
        r#"m map; required_input_pattern => '{"a": 1}'"#,
        "n map; forbidden_input_pattern => '{}'",
    ];
    let db = Db::with(&define("f", &steps)).await;
    let run = db.start("f", r#"[{"a": 1}]"#).await;
    assert_eq!(run.steps().await, ["m:skipped", "n:started"]);
    db.check().await;
}

#[tokio::test]
async fn a_map_can_have_a_condition_on_its_source() {
    let steps = ["a", r#"m map after a; required_input_pattern => '{"a": [1]}'"#, "z after m"];
    let db = Db::with(&define("f", &steps)).await;
    let met = db.start("f", "{}").await;
    met.finish("a", "[3, 1]").await;
    assert_eq!(met.step("m", "status, remaining_tasks").await, "started|2");
    let unmet = db.start("f", "{}").await;
    unmet.finish("a", "[3, 2]").await;
    assert_eq!(unmet.steps().await, ["a:completed", "m:skipped", "z:started"]);
    let task = db.claim("f").await.into_iter().find(|task| task.step == "z").expect("z");
    assert_eq!(task.input, json!({"run": {}}));
    db.check().await;
}

#[tokio::test]
async fn an_sql_null_output_counts_as_json_null() {
    let steps = ["a", r#"b after a; required_input_pattern => '{"a": null}'"#];
    let db = Db::with(&define("f", &steps)).await;
    let run = db.start("f", "{}").await;
    run.finish("a", None).await;
    assert_eq!(run.step("b", "status").await, "started");
    db.check().await;
}
