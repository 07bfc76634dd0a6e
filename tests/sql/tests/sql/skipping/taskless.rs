//! `cascade_complete_taskless_steps`.

use crate::harness::{Db, Run, define, define_maps};

fn cascade(run: &Run<'_>) -> String {
    format!("select pgflow.cascade_complete_taskless_steps(run_id => '{}')", run.id)
}

#[tokio::test]
async fn nothing_to_do_is_zero() {
    let db = Db::with(&define("f", &["a; max_attempts => 1", "m map after a"])).await;
    let run = db.start("f", "{}").await;
    assert_eq!(db.one(&cascade(&run)).await, "0");
    run.exhaust("a", "boom").await;
    assert_eq!(db.one(&cascade(&run)).await, "0", "nor on a failed run");
    db.check().await;
}

#[tokio::test]
async fn waves_count_every_step() {
    let steps = ["a", "m map after a", "n map after m", "o map after n", "s after m"];
    let db = Db::with(&define("f", &steps)).await;
    let run = db.start("f", "{}").await;
    db.run(
        "update pgflow.step_states set remaining_deps = 0, initial_tasks = 0 where step_slug = 'm'",
    )
    .await;
    assert_eq!(db.one(&cascade(&run)).await, "3");
    let expected = ["a:started", "m:completed", "n:completed", "o:completed", "s:created"];
    assert_eq!(run.steps().await, expected);
    assert_eq!(run.step("s", "remaining_deps, initial_tasks").await, "0|1");
    assert_eq!(run.step("o", "output, remaining_tasks, started_at = completed_at").await, "[]|0|t");
    assert_eq!(run.get("remaining_steps").await, "2");
    assert_eq!(db.one(&cascade(&run)).await, "0");
}

#[tokio::test]
async fn a_single_step_without_tasks_completes_with_null() {
    let db = Db::with(&define("f", &["a", "b after a"])).await;
    let run = db.start("f", "{}").await;
    db.run(
        "update pgflow.step_states set remaining_deps = 0, initial_tasks = 0 where step_slug = 'b'",
    )
    .await;
    assert_eq!(db.one(&cascade(&run)).await, "1");
    assert_eq!(run.step("b", "status, output, remaining_tasks").await, "completed|NULL|0");
}

#[tokio::test]
async fn more_than_fifty_waves_are_a_loop() {
    let db = Db::with(&define_maps("f", 60)).await;
    let failure = db.error("select pgflow.start_flow('f', '[]')").await;
    assert_eq!(failure.message, "Cascade loop exceeded safety limit of 50 iterations");
    assert_eq!(db.one("select count(*) from pgflow.runs").await, "0");
    db.check().await;
}
