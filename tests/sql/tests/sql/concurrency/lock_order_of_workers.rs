//! Workers that are deleted while they work.

use crate::harness::{Db, Waiting, define};

const WORKER: &str = "11111111-1111-4111-8111-111111111111";

async fn with_worker() -> Db {
    let db = Db::with(&define("f", &["a"])).await;
    let insert = "insert into pgflow.workers (worker_id, queue_name, function_name) values";
    db.run(&format!("{insert} ('{WORKER}', 'f', 'f')")).await;
    db
}

fn claim() -> String {
    format!("select step_slug from pgflow.claim_tasks(array['f'], 9, '{WORKER}')")
}

/// As with a foreign key: no task names a worker that is gone.
#[tokio::test]
async fn deleting_a_worker_waits_for_its_claim() {
    let db = with_worker().await;
    let run = db.start("f", "1").await;
    let mut one = db.session().await;
    one.run(&format!("begin; {}", claim())).await;
    let deletion = Waiting::for_a_lock(&db, "delete from pgflow.workers").await;
    one.run("commit").await;
    assert!(deletion.answer().await.is_ok());
    assert_eq!(run.task("a", 0, "status, last_worker_id").await, "started|NULL");
    db.check().await;
}

#[tokio::test]
async fn a_worker_that_is_being_deleted_is_refused_without_waiting() {
    let db = with_worker().await;
    db.start("f", "1").await;
    let (mut one, mut two) = (db.session().await, db.session().await);
    one.run("begin; delete from pgflow.workers").await;
    two.run("set lock_timeout = '2s'").await;
    assert_eq!(two.error(&claim()).await.code, "23503");
    one.run("rollback").await;
    assert_eq!(two.rows(&claim()).await, ["a"]);
    db.check().await;
}

/// The tasks of a deleted worker are locked in the order of their keys, wherever they lie.
#[tokio::test]
async fn a_deleted_worker_is_forgotten_in_order() {
    let db = with_worker().await;
    let id = |n: u32| format!("00000000-0000-4000-8000-{n:012}");
    for n in [2, 1] {
        db.run(&format!("select pgflow.start_flow('f', '1', '{}')", id(n))).await;
        db.run(&claim()).await;
    }
    let beat = |n: u32| {
        let key = format!("array['{}']::uuid[], array['a'], array[0], array[1]", id(n));
        format!("select outcome from pgflow.heartbeat({key})")
    };
    let mut one = db.session().await;
    one.run(&format!("begin; {}", beat(1))).await;
    let deletion = Waiting::for_a_lock(&db, "delete from pgflow.workers").await;
    assert_eq!(one.rows(&beat(2)).await, ["extended"], "the second task is not locked yet");
    one.run("commit").await;
    assert!(deletion.answer().await.is_ok());
    db.check().await;
}

#[tokio::test]
async fn pruning_leaves_workers_whose_task_somebody_holds() {
    let db = with_worker().await;
    db.start("f", "1").await;
    db.run(&claim()).await;
    let (mut holder, mut pruner) = (db.session().await, db.session().await);
    let prune = "select workers from pgflow.prune_data_older_than(interval '0', null)";
    pruner.run("set statement_timeout = '5s'").await;
    for held in ["pgflow.step_tasks", "pgflow.workers"] {
        holder.run(&format!("begin; select from {held} for update")).await;
        assert_eq!(pruner.one(prune).await, "0", "{held}");
        holder.run("commit").await;
    }
    assert_eq!(pruner.one(prune).await, "1");
    db.check().await;
}
