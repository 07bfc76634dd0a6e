//! Who took a task.

use crate::harness::{Db, define};

const WORKER: &str = "00000000-0000-4000-8000-00000000000a";
const NOBODY: &str = "00000000-0000-4000-8000-00000000000b";

async fn with_worker() -> Db {
    let db = Db::with(&define("f", &["a"])).await;
    let row = format!("('{WORKER}', 'f', 'fn')");
    db.run(&format!(
        "insert into pgflow.workers (worker_id, queue_name, function_name) values {row}"
    ))
    .await;
    db
}

/// The two ways to take work as a worker.
fn ways(worker: &str) -> [String; 2] {
    let ids = "(select array_agg(message_id) from pgflow.step_tasks)";
    [
        format!(
            "select pgflow.start_tasks(flow_slug => 'f', msg_ids => {ids}, worker_id => '{worker}')"
        ),
        format!(
            "select pgflow.claim_tasks(queue_names => array['f'], qty => 5, worker_id => '{worker}')"
        ),
    ]
}

#[tokio::test]
async fn a_started_task_names_its_worker() {
    for way in 0..2 {
        let db = with_worker().await;
        let run = db.start("f", "1").await;
        db.run(&ways(WORKER)[way]).await;
        assert_eq!(run.task("a", 0, "status, last_worker_id").await, format!("started|{WORKER}"));
        db.check().await;
    }
}

#[tokio::test]
async fn an_unknown_worker_is_refused() {
    let db = with_worker().await;
    let run = db.start("f", "1").await;
    // One session: the locks of a refused statement go a moment after the refusal is sent.
    let mut session = db.session().await;
    for way in ways(NOBODY) {
        let failure = session.error(&way).await;
        let named = (failure.code.as_str(), failure.constraint.as_deref());
        assert_eq!(named, ("23503", Some("step_tasks_last_worker_id_fkey")), "{failure}");
    }
    assert_eq!(run.tasks().await, ["a#0:queued:0"]);
    db.check().await;
}

#[tokio::test]
async fn a_deleted_worker_is_forgotten_by_its_tasks() {
    let db = with_worker().await;
    let run = db.start("f", "1").await;
    db.run(&ways(WORKER)[1]).await;
    db.run("delete from pgflow.workers").await;
    assert_eq!(run.task("a", 0, "status, last_worker_id").await, "started|NULL");
    db.check().await;
}

#[tokio::test]
async fn a_retry_keeps_the_last_worker() {
    let db = with_worker().await;
    let run = db.start("f", "1").await;
    db.run(&ways(WORKER)[1]).await;
    run.fail("a", 0, "again").await;
    assert_eq!(run.task("a", 0, "status, last_worker_id").await, format!("queued|{WORKER}"));
    db.check().await;
}
