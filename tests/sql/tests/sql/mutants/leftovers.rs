//! What an end left behind, a message or a ready step: whoever finds it does no harm.

use crate::harness::{Db, Run, define};

async fn started(db: &Db) -> Run<'_> {
    db.run(&define("f", &["a", "b"])).await;
    db.start("f", "{}").await
}

/// Both ways of taking work, and what they started.
async fn assert_tasks_after_claim(db: &Db, run: &Run<'_>, expected: [&str; 2]) {
    db.run("select pgflow.start_tasks('f', array[1, 2]::bigint[], null)").await;
    db.wake("f").await;
    db.claim("f").await;
    assert_eq!(run.tasks().await, expected);
}

#[tokio::test]
async fn a_task_of_an_ended_run_does_not_start() {
    let db = Db::new().await;
    let run = started(&db).await;
    db.run("update pgflow.runs set status = 'cancelled', cancelled_at = now()").await;
    assert_tasks_after_claim(&db, &run, ["a#0:queued:0", "b#0:queued:0"]).await;
}

#[tokio::test]
async fn a_task_of_an_ended_step_does_not_start() {
    let db = Db::new().await;
    let run = started(&db).await;
    db.run(
        "update pgflow.step_states set status = 'skipped', skipped_at = now(),
            skip_reason = 'condition_unmet', remaining_tasks = null where step_slug = 'a'",
    )
    .await;
    assert_tasks_after_claim(&db, &run, ["a#0:queued:0", "b#0:started:1"]).await;
}

#[tokio::test]
async fn a_late_failure_with_attempts_left_archives_the_message() {
    let db = Db::new().await;
    let run = started(&db).await;
    db.claim("f").await;
    let skip =
        format!("select pgflow._cascade_force_skip_steps('{}', 'a', 'condition_unmet')", run.id);
    db.run(&skip).await;
    db.run(
        "with gone as (delete from pgmq.a_f returning msg_id, message)
            insert into pgmq.q_f (msg_id, vt, message) overriding system value
            select msg_id, now(), message from gone",
    )
    .await;
    assert_eq!(db.queue("f").await, ["a#0", "b#0"]);
    assert_eq!(run.fail("a", 0, "late").await, ["started"]);
    assert_eq!(db.queue("f").await, ["b#0"]);
    db.check().await;
}

#[tokio::test]
async fn a_ready_step_of_an_ended_run_does_not_complete() {
    let db = Db::with(&define("f", &["a", "m map after a"])).await;
    let run = db.start("f", "{}").await;
    db.run(&format!("select pgflow.cancel_run('{}')", run.id)).await;
    let ready = "update pgflow.step_states set remaining_deps = 0, initial_tasks = 0";
    db.run(&format!("{ready} where step_slug = 'm'")).await;
    let cascade = format!("select pgflow.cascade_complete_taskless_steps('{}')", run.id);
    assert_eq!(db.one(&cascade).await, "0");
    assert_eq!(run.steps().await, ["a:started", "m:created"]);
}
