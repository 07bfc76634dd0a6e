//! `requeue_stalled_tasks`, as long as a task may come back.

use crate::harness::{Db, define};

const REQUEUE: &str = "select pgflow.requeue_stalled_tasks()";

/// Sets a started task's clock so that it began `seconds` ago.
fn age(step: &str, seconds: u32) -> String {
    format!(
        "update pgflow.step_tasks set queued_at = queued_at - interval '1 day',
            started_at = now() - interval '{seconds} s', lease_until = null where step_slug = '{step}'"
    )
}

#[tokio::test]
async fn a_stalled_task_comes_back_at_once() {
    let db = Db::with(&define("f", &["a; timeout => 60"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    db.run(&age("a", 95)).await;
    let queued_at = run.task("a", 0, "queued_at").await;
    assert_eq!(db.one(REQUEUE).await, "1");
    assert_eq!(run.task("a", 0, "queued_at").await, queued_at);
    let task = "status, attempts_count, requeued_count, started_at, last_worker_id, last_requeued_at is not null,
        permanently_stalled_at";
    assert_eq!(run.task("a", 0, task).await, "queued|1|1|NULL|NULL|t|NULL");
    assert_eq!(db.one("select vt <= clock_timestamp() from pgmq.q_f").await, "t");
    db.check().await;
    assert_eq!(db.claim("f").await[0].attempt, 2);
    run.complete("a", 0, "1").await;
    assert_eq!(run.status().await, "completed");
    db.check().await;
}

#[tokio::test]
async fn the_grace_is_thirty_seconds_unless_given() {
    let db = Db::with(&define("f", &["a; timeout => 60"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    db.run(&age("a", 85)).await;
    assert_eq!(db.one(REQUEUE).await, "0");
    assert_eq!(db.one("select pgflow.requeue_stalled_tasks(grace => 27)").await, "0");
    assert_eq!(db.one("select pgflow.requeue_stalled_tasks(grace => 20)").await, "1");
    assert_eq!(run.task("a", 0, "status").await, "queued");
    db.check().await;
}

#[tokio::test]
async fn the_steps_timeout_wins_over_the_flows() {
    let db = Db::with("select pgflow.create_flow('f', timeout => 10)").await;
    db.run("select pgflow.add_step('f', 'a'); select pgflow.add_step('f', 'b', timeout => 1000)")
        .await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    db.run(&(age("a", 45) + ";" + &age("b", 45))).await;
    assert_eq!(db.one(REQUEUE).await, "1");
    assert_eq!(run.tasks().await, ["a#0:queued:1", "b#0:started:1"]);
    db.check().await;
}

#[tokio::test]
async fn only_started_tasks_stall() {
    let db = Db::with(&define("f", &["m map", "z"])).await;
    let run = db.start("f", "[1, 2]").await;
    db.claim("f").await;
    run.complete("m", 0, "1").await;
    run.fail("m", 1, "boom").await;
    db.run("update pgflow.step_tasks set queued_at = queued_at - interval '9 days'").await;
    db.run(
        "update pgflow.step_tasks set started_at = started_at - interval '1 day'
            where status = 'completed'",
    )
    .await;
    assert_eq!(db.one(REQUEUE).await, "0");
    assert_eq!(run.tasks().await, ["m#0:completed:1", "m#1:queued:1", "z#0:started:1"]);
    db.check().await;
}

#[tokio::test]
async fn tasks_of_ended_runs_are_left_alone() {
    let db = Db::with(&define("f", &["a", "b; max_attempts => 1"])).await;
    let (failed, cancelled) = (db.start("f", "{}").await, db.start("f", "{}").await);
    db.claim("f").await;
    failed.stall("a", 0).await;
    cancelled.stall("a", 0).await;
    failed.fail("b", 0, "boom").await;
    db.run(&format!("select pgflow.cancel_run('{}')", cancelled.id)).await;
    db.run(REQUEUE).await;
    assert_eq!(db.claim("f").await.len(), 0);
    assert_eq!(db.queue("f").await, [""; 0]);
    assert_eq!(
        (failed.status().await, cancelled.status().await),
        ("failed".into(), "cancelled".into())
    );
    db.check().await;
}

#[tokio::test]
async fn requeues_make_no_event() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    run.stall("a", 0).await;
    db.run(REQUEUE).await;
    assert_eq!(run.events().await, ["run:started", "step:a:started"]);
    db.check().await;
}

#[tokio::test]
async fn a_task_whose_row_is_locked_is_passed_over() {
    let db = Db::with(&define("f", &["m map"])).await;
    let run = db.start("f", "[1, 2]").await;
    db.claim("f").await;
    run.stall("m", 0).await;
    run.stall("m", 1).await;
    let mut holder = db.session().await;
    holder.run("begin; select from pgflow.step_tasks where task_index = 0 for update").await;
    let mut sweeper = db.session().await;
    sweeper.run("set statement_timeout = '20s'").await;
    assert_eq!(sweeper.one(REQUEUE).await, "1");
    holder.run("commit").await;
    assert_eq!(sweeper.one(REQUEUE).await, "1");
    db.check().await;
}

#[tokio::test]
async fn several_tasks_come_back_in_one_call() {
    let db = Db::with(&define("f", &["m map"])).await;
    let run = db.start("f", "[1, 2, 3]").await;
    db.claim("f").await;
    for index in 0..3 {
        run.stall("m", index).await;
    }
    assert_eq!(db.one(REQUEUE).await, "3");
    assert_eq!(db.claim("f").await.len(), 3, "each message is visible again");
    db.check().await;
}

#[tokio::test]
async fn a_negative_grace_is_refused() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    for call in ["requeue_stalled_tasks(-3600)", "sweep_and_claim(-3600, array['f'], 1)"] {
        let failure = db.error(&format!("select pgflow.{call}")).await;
        assert_eq!(failure.code, "22023", "{failure}");
    }
    assert_eq!(run.tasks().await, ["a#0:started:1"]);
    assert_eq!(db.one("select pgflow.requeue_stalled_tasks(2147483647)").await, "0");
    run.stall("a", 0).await;
    assert_eq!(
        db.one("select pgflow.requeue_stalled_tasks(null)").await,
        "1",
        "null is the default"
    );
    db.check().await;
}
