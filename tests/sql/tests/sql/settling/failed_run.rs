//! A failed run takes nothing more in.

use crate::harness::{Db, Run, define};

async fn failed(db: &Db) -> Run<'_> {
    db.run(&define("f", &["a; max_attempts => 1", "b", "c after b"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    run.fail("a", 0, "boom").await;
    assert_eq!(run.status().await, "failed");
    run
}

#[tokio::test]
async fn a_completion_changes_nothing() {
    let db = Db::new().await;
    let run = failed(&db).await;
    let before = run.task("b", 0, "to_jsonb(step_tasks)").await;
    assert_eq!(run.complete("b", 0, "1").await, ["started"]);
    assert_eq!(run.task("b", 0, "to_jsonb(step_tasks)").await, before);
    assert_eq!(run.steps().await, ["a:failed", "b:started", "c:created"]);
    assert_eq!(run.get("status, remaining_steps, output").await, "failed|3|NULL");
    db.check().await;
}

#[tokio::test]
async fn a_failure_is_written_down_without_a_retry() {
    let db = Db::new().await;
    let run = failed(&db).await;
    let events = run.events().await;
    assert_eq!(run.fail("b", 0, "me too").await, ["failed"]);
    assert_eq!(
        run.task("b", 0, "status, error_message, failed_at is not null").await,
        "failed|me too|t"
    );
    assert_eq!(run.step("b", "status, error_message").await, "started|NULL");
    assert_eq!(run.get("status").await, "failed");
    assert_eq!(run.events().await, events);
    assert_eq!(db.queue("f").await, [""; 0]);
    db.check().await;
}

#[tokio::test]
async fn nothing_can_be_claimed() {
    let db = Db::new().await;
    let run = failed(&db).await;
    assert_eq!(db.claim("f").await.len(), 0);
    assert_eq!(run.fail("a", 0, "again").await, ["failed"]);
    assert_eq!(run.task("a", 0, "error_message").await, "boom");
    db.check().await;
}
