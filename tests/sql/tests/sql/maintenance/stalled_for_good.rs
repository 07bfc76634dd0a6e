//! A task that stalled once too often ends its step and its run.

use crate::harness::{Db, Run, define};

const REQUEUE: &str = "select pgflow.requeue_stalled_tasks()";

/// Stalls the first task of a step until it may not come back.
async fn stall_for_good(db: &Db, run: &Run<'_>, step: &str) {
    for _ in 0..3 {
        db.claim("f").await;
        run.stall(step, 0).await;
        assert_eq!(db.one(REQUEUE).await, "1");
    }
    db.claim("f").await;
    run.stall(step, 0).await;
    assert_eq!(db.one(REQUEUE).await, "0", "giving up is not counted");
}

#[tokio::test]
async fn the_run_fails_after_three_requeues() {
    let db = Db::with(&define("f", &["a", "b after a", "z; start_delay => 1000"])).await;
    let run = db.start("f", "{}").await;
    stall_for_good(&db, &run, "a").await;
    let task = "status, requeued_count, attempts_count, permanently_stalled_at is not null,
        error_message like 'stalled%'";
    assert_eq!(run.task("a", 0, task).await, "started|3|4|t|t");
    assert_eq!(run.status().await, "failed");
    assert_eq!(run.step("a", "status, error_message like 'stalled%'").await, "failed|t");
    assert_eq!(run.steps().await, ["a:failed", "b:created", "z:started"]);
    assert_eq!(db.queue("f").await, [""; 0]);
    assert_eq!(db.archive("f").await, ["a#0", "z#0"]);
    let events = run.events().await;
    assert_eq!(events[events.len() - 2..], ["step:a:failed", "run:failed"]);
    let error = run.event("run:failed", None).await["error_message"].to_string();
    assert!(error.starts_with("\"stalled"), "{error}");
    db.check().await;
}

#[tokio::test]
async fn a_step_that_may_be_skipped_is_skipped() {
    for (mode, below) in [("skip", "started"), ("skip-cascade", "skipped")] {
        let step = format!("a; when_exhausted => '{mode}'");
        let db = Db::with(&define("f", &[&step, "b after a", "z"])).await;
        let run = db.start("f", "{}").await;
        db.claim("f").await;
        run.complete("z", 0, "1").await;
        run.stall("a", 0).await;
        assert_eq!(db.one(REQUEUE).await, "1");
        db.run("update pgflow.step_tasks set requeued_count = 3, last_requeued_at = now() where step_slug = 'a'").await;
        db.claim("f").await;
        run.stall("a", 0).await;
        assert_eq!(db.one(REQUEUE).await, "0");
        let state = "status, skip_reason, error_message like 'stalled%'";
        assert_eq!(run.step("a", state).await, "skipped|handler_failed|t");
        assert_eq!(run.step("b", "status").await, below);
        let status = if below == "started" { "started" } else { "completed" };
        assert_eq!(run.status().await, status, "{mode}");
        db.check().await;
    }
}

#[tokio::test]
async fn other_tasks_of_the_step_stay_as_they_are() {
    let db = Db::with(&define("f", &["m map; when_exhausted => 'skip'", "z"])).await;
    let run = db.start("f", "[1, 2]").await;
    db.claim("f").await;
    db.run(
        "update pgflow.step_tasks set requeued_count = 3, last_requeued_at = now() where task_index = 0 and step_slug = 'm'",
    )
    .await;
    run.stall("m", 0).await;
    run.stall("m", 1).await;
    assert_eq!(db.one(REQUEUE).await, "0");
    assert_eq!(run.tasks().await, ["m#0:started:1", "m#1:started:1", "z#0:started:1"]);
    assert_eq!(db.queue("f").await.len(), 1, "only z is left in the queue");
    db.check().await;
}

#[tokio::test]
async fn a_second_sweep_finds_nothing() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    stall_for_good(&db, &run, "a").await;
    let before = (run.events().await, run.task("a", 0, "to_jsonb(step_tasks)").await);
    assert_eq!(db.one(REQUEUE).await, "0");
    assert_eq!((run.events().await, run.task("a", 0, "to_jsonb(step_tasks)").await), before);
    db.check().await;
}

#[tokio::test]
async fn the_zombie_cannot_bring_the_task_back() {
    let db = Db::with(&define("f", &["a; when_exhausted => 'skip'", "z"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    db.run("update pgflow.step_tasks set requeued_count = 3, last_requeued_at = now() where step_slug = 'a'").await;
    run.stall("a", 0).await;
    db.run(REQUEUE).await;
    let before = run.task("a", 0, "to_jsonb(step_tasks)").await;
    run.complete("a", 0, "1").await;
    run.fail("a", 0, "late").await;
    assert_eq!(run.task("a", 0, "to_jsonb(step_tasks)").await, before);
    assert_eq!(run.step("a", "status").await, "skipped");
    db.check().await;
}

#[tokio::test]
async fn one_sweep_can_requeue_and_give_up_in_several_runs() {
    let db = Db::with(&define("f", &["m map"])).await;
    let (one, two) = (db.start("f", "[1, 2]").await, db.start("f", "[1]").await);
    db.claim("f").await;
    one.stall("m", 0).await;
    one.stall("m", 1).await;
    two.stall("m", 0).await;
    db.run(&format!(
        "update pgflow.step_tasks set requeued_count = 3, last_requeued_at = now() where run_id = '{}' and task_index = 1",
        one.id
    ))
    .await;
    db.run(REQUEUE).await;
    assert_eq!((one.status().await, two.status().await), ("failed".into(), "started".into()));
    assert_eq!(two.tasks().await, ["m#0:queued:1"]);
    assert_eq!(db.claim("f").await.len(), 1);
    db.check().await;
}
