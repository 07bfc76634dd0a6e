//! `_cascade_force_skip_steps`.

use crate::harness::{Db, Run, define};

fn skip(run: &Run<'_>, step: &str) -> String {
    format!("select pgflow._cascade_force_skip_steps('{}', '{step}', 'condition_unmet')", run.id)
}

#[tokio::test]
async fn a_step_and_all_below_are_skipped_once() {
    let db = Db::with(&define("f", &["a", "b after a", "c after b", "z"])).await;
    let run = db.start("f", "{}").await;
    assert_eq!(db.one(&skip(&run, "a")).await, "3");
    assert_eq!(run.steps().await, ["a:skipped", "b:skipped", "c:skipped", "z:started"]);
    assert_eq!(
        run.step("a", "skip_reason, remaining_tasks, skipped_at is not null").await,
        "condition_unmet|NULL|t"
    );
    assert_eq!(run.step("b", "skip_reason, remaining_deps").await, "dependency_skipped|1");
    assert_eq!(run.get("remaining_steps").await, "1");
    assert_eq!(db.archive("f").await, ["a#0"]);
    assert_eq!(db.queue("f").await, ["z#0"]);
    let events = run.events().await;
    assert_eq!(events[3..], ["step:a:skipped", "step:b:skipped", "step:c:skipped"]);
    assert_eq!(db.one(&skip(&run, "a")).await, "0", "nothing is left to skip");
    assert_eq!(run.events().await, events);
    assert_eq!(run.get("remaining_steps").await, "1");
    db.check().await;
}

#[tokio::test]
async fn finished_steps_are_left_alone() {
    let db = Db::with(&define("f", &["a", "b after a", "c after b"])).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "1").await;
    db.claim("f").await;
    assert_eq!(db.one(&skip(&run, "a")).await, "2");
    assert_eq!(run.steps().await, ["a:completed", "b:skipped", "c:skipped"]);
    assert_eq!(run.task("b", 0, "status").await, "started", "tasks keep their status");
    assert_eq!(db.queue("f").await, [""; 0]);
    db.run(&format!("select pgflow.maybe_complete_run('{}')", run.id)).await;
    assert_eq!(run.get("status, output").await, "completed|NULL");
    db.check().await;
}

#[tokio::test]
async fn the_run_is_not_completed_by_it() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.run(&skip(&run, "a")).await;
    assert_eq!(run.get("status, remaining_steps").await, "started|0");
    db.run(&format!("select pgflow.maybe_complete_run('{}')", run.id)).await;
    assert_eq!(run.status().await, "completed");
    db.check().await;
}

#[tokio::test]
async fn an_unknown_run_is_refused() {
    let db = Db::new().await;
    let id = "00000000-0000-0000-0000-000000000009";
    let call = format!("select pgflow._cascade_force_skip_steps('{id}', 'a', 'x')");
    assert_eq!(db.error(&call).await.message, format!("Run not found: {id}"));
}
