//! `start_ready_steps`.

use crate::harness::{Db, define};

#[tokio::test]
async fn a_second_call_is_harmless() {
    let db = Db::with(&define("f", &["a", "m map"])).await;
    let run = db.start("f", "[1, 2]").await;
    let before = (run.tasks().await, run.events().await, db.queue("f").await);
    for _ in 0..2 {
        db.run(&format!("select pgflow.start_ready_steps(run_id => '{}')", run.id)).await;
    }
    assert_eq!((run.tasks().await, run.events().await, db.queue("f").await), before);
    db.check().await;
}

#[tokio::test]
async fn steps_that_are_ready_are_started() {
    let db = Db::with(&define("f", &["a", "z after a", "b after a"])).await;
    let run = db.start("f", "{}").await;
    db.run("update pgflow.step_states set remaining_deps = 0").await;
    db.run(&format!("select pgflow.start_ready_steps('{}')", run.id)).await;
    assert_eq!(run.steps().await, ["a:started", "z:started", "b:started"]);
    assert_eq!(run.step("b", "remaining_tasks, started_at is not null").await, "1|t");
    assert_eq!(db.queue("f").await, ["a#0", "b#0", "z#0"]);
    let mut started = run.events().await.split_off(2);
    started.sort();
    assert_eq!(started, ["step:b:started", "step:z:started"]);
}

#[tokio::test]
async fn a_step_of_unknown_or_no_width_is_not_started() {
    let db = Db::with(&define("f", &["a", "m map after a", "n map after a"])).await;
    let run = db.start("f", "{}").await;
    db.run("update pgflow.step_states set remaining_deps = 0 where step_slug = 'm'").await;
    db.run(
        "update pgflow.step_states set remaining_deps = 0, initial_tasks = 0 where step_slug = 'n'",
    )
    .await;
    db.run(&format!("select pgflow.start_ready_steps('{}')", run.id)).await;
    assert_eq!(run.steps().await, ["a:started", "m:created", "n:created"]);
}

#[tokio::test]
async fn ended_runs_start_nothing() {
    let db = Db::with(&define("f", &["a; max_attempts => 1", "b after a"])).await;
    let run = db.start("f", "{}").await;
    run.exhaust("a", "boom").await;
    db.run("update pgflow.step_states set remaining_deps = 0 where step_slug = 'b'").await;
    db.run(&format!("select pgflow.start_ready_steps('{}')", run.id)).await;
    assert_eq!(run.steps().await, ["a:failed", "b:created"]);
    assert_eq!(db.queue("f").await, [""; 0]);
}
