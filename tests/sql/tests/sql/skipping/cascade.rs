//! What a skipped step does to those behind it.

use crate::harness::{Db, define};

const UNMET: &str = r#"required_input_pattern => '{"go": 1}'"#;

#[tokio::test]
async fn with_skip_the_dependents_go_on() {
    let steps = [&format!("a; {UNMET}"), "b after a", "m map after a", "j after a b m"];
    let db = Db::with(&define("f", &steps)).await;
    let run = db.start("f", "{}").await;
    assert_eq!(run.steps().await, ["a:skipped", "b:started", "m:completed", "j:created"]);
    assert_eq!(run.step("m", "initial_tasks, output").await, "0|[]");
    assert_eq!(run.step("j", "remaining_deps").await, "1");
    assert_eq!(run.get("remaining_steps").await, "2");
    run.finish("b", "1").await;
    run.finish("j", "2").await;
    assert_eq!(run.get("status, output").await, r#"completed|{"j": 2}"#);
    db.check().await;
}

#[tokio::test]
async fn two_skipped_parents_count_as_two() {
    let steps = [&format!("a; {UNMET}"), &format!("b; {UNMET}"), "c after a b", "d after a b"];
    let db = Db::with(&define("f", &steps)).await;
    let run = db.start("f", "{}").await;
    assert_eq!(run.steps().await, ["a:skipped", "b:skipped", "c:started", "d:started"]);
    assert_eq!(run.step("c", "remaining_deps").await, "0");
    db.check().await;
}

#[tokio::test]
async fn skips_go_on_as_long_as_conditions_are_unmet() {
    let steps = [
        &format!("a; {UNMET}"),
        r#"b after a; required_input_pattern => '{"a": {}}'"#,
        r#"c after b; required_input_pattern => '{"b": {}}'"#,
        "d after c",
    ];
    let db = Db::with(&define("f", &steps)).await;
    let run = db.start("f", "{}").await;
    assert_eq!(run.steps().await, ["a:skipped", "b:skipped", "c:skipped", "d:started"]);
    assert_eq!(run.step("c", "skip_reason").await, "condition_unmet");
    let expected =
        ["run:started", "step:a:skipped", "step:b:skipped", "step:c:skipped", "step:d:started"];
    assert_eq!(run.events().await, expected);
    db.check().await;
}

#[tokio::test]
async fn skip_cascade_takes_everything_below() {
    let steps = [
        &format!("a; {UNMET}, when_unmet => 'skip-cascade'"),
        "b after a",
        "m map after b",
        "z",
        "j after m z",
        "k after z",
    ];
    let db = Db::with(&define("f", &steps)).await;
    let run = db.start("f", "{}").await;
    let expected = ["a:skipped", "b:skipped", "m:skipped", "z:started", "j:skipped", "k:created"];
    assert_eq!(run.steps().await, expected);
    assert_eq!(run.step("a", "skip_reason").await, "condition_unmet");
    for step in ["b", "m", "j"] {
        assert_eq!(run.step(step, "skip_reason, remaining_tasks").await, "dependency_skipped|NULL");
    }
    assert_eq!(run.get("remaining_steps").await, "2");
    run.finish("z", "1").await;
    run.finish("k", "2").await;
    assert_eq!(run.get("status, output").await, r#"completed|{"k": 2}"#);
    db.check().await;
}

#[tokio::test]
async fn events_of_a_cascade_are_in_dependency_order() {
    let steps = [
        &format!("z; {UNMET}, when_unmet => 'skip-cascade'"),
        "y after z",
        "a after y",
        "b after z a",
        "x after b",
    ];
    let db = Db::with(&define("f", &steps)).await;
    let run = db.start("f", "{}").await;
    let expected = [
        "run:started",
        "step:z:skipped",
        "step:y:skipped",
        "step:a:skipped",
        "step:b:skipped",
        "step:x:skipped",
        "run:completed",
    ];
    assert_eq!(run.events().await, expected);
    assert_eq!(run.get("status, output, remaining_steps").await, "completed|NULL|0");
    db.check().await;
}

#[tokio::test]
async fn a_cascade_in_the_middle_of_a_run() {
    let steps = [
        "a",
        r#"b after a; required_input_pattern => '{"a": 1}', when_unmet => 'skip-cascade'"#,
        "c after b",
        "d after a",
    ];
    let db = Db::with(&define("f", &steps)).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "2").await;
    assert_eq!(run.steps().await, ["a:completed", "b:skipped", "c:skipped", "d:started"]);
    db.check().await;
}

#[tokio::test]
async fn skip_and_skip_cascade_meet_in_one_step() {
    let steps = [
        &format!("a; {UNMET}"),
        &format!("b; {UNMET}, when_unmet => 'skip-cascade'"),
        "c after a b",
        "d after a",
    ];
    let db = Db::with(&define("f", &steps)).await;
    let run = db.start("f", "{}").await;
    assert_eq!(run.steps().await, ["a:skipped", "b:skipped", "c:skipped", "d:started"]);
    assert_eq!(run.step("c", "skip_reason").await, "dependency_skipped");
    assert_eq!(run.get("remaining_steps").await, "1");
    db.check().await;
}

#[tokio::test]
async fn a_long_chain_of_unmet_conditions_starts_nothing() {
    let step = |number: usize| match number {
        0 => format!("s0; {UNMET}"),
        n => format!("s{n} after s{0}; required_input_pattern => '{{\"s{0}\": {{}}}}'", n - 1),
    };
    let steps: Vec<_> = (0..60).map(step).collect();
    let db = Db::with(&define("f", &steps.iter().map(String::as_str).collect::<Vec<_>>())).await;
    let run = db.start("f", "{}").await;
    let started = run.steps().await.into_iter().find(|step| !step.ends_with(":skipped"));
    assert_eq!(started, None);
    assert_eq!(run.status().await, "completed");
    db.check().await;
}
