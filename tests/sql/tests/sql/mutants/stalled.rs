//! Stalled tasks beside a lock, a worker, an end.

use crate::harness::{Db, Run, define};

const REQUEUE: &str = "select pgflow.requeue_stalled_tasks()";

async fn stalled(db: &Db) -> Run<'_> {
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    run.stall("a", 0).await;
    run
}

/// Its run is locked, so that it cannot be ended now; that is no reason to try it a fifth time.
#[tokio::test]
async fn a_task_lost_too_often_never_comes_back() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = stalled(&db).await;
    db.run("update pgflow.step_tasks set requeued_count = 3, last_requeued_at = now()").await;
    let (mut holder, mut sweeper) = (db.session().await, db.session().await);
    holder.run("begin; select from pgflow.runs for update").await;
    sweeper.run("set lock_timeout = '2s'").await;
    assert_eq!(sweeper.one(REQUEUE).await, "0");
    assert_eq!(run.task("a", 0, "status, requeued_count").await, "started|3");
    holder.run("commit").await;
    assert_eq!(db.one(REQUEUE).await, "0");
    assert_eq!(run.status().await, "failed");
    db.check().await;
}

#[tokio::test]
async fn a_task_that_comes_back_names_no_worker() {
    let db = Db::with(&define("f", &["a"])).await;
    let worker = "00000000-0000-4000-8000-000000000001";
    let new = "insert into pgflow.workers (worker_id, queue_name, function_name)";
    db.run(&format!("{new} values ('{worker}', 'f', 'w')")).await;
    let run = db.start("f", "{}").await;
    db.run(&format!("select pgflow.claim_tasks(array['f'], 1, '{worker}')")).await;
    assert_eq!(run.task("a", 0, "last_worker_id").await, worker);
    run.stall("a", 0).await;
    assert_eq!(db.one(REQUEUE).await, "1");
    assert_eq!(run.task("a", 0, "status, last_worker_id").await, "queued|NULL");
    db.check().await;
}

#[tokio::test]
async fn a_task_of_an_ended_run_does_not_come_back() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = stalled(&db).await;
    db.run("update pgflow.runs set status = 'cancelled', cancelled_at = now()").await;
    assert_eq!(db.one(REQUEUE).await, "0");
    assert_eq!(run.tasks().await, ["a#0:started:1"]);
    db.run("update pgflow.step_tasks set requeued_count = 3, last_requeued_at = now()").await;
    assert_eq!(db.one(REQUEUE).await, "0");
    assert_eq!(
        (run.status().await, run.steps().await),
        ("cancelled".into(), vec!["a:started".into()])
    );
}
