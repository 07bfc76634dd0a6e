//! The last attempt failed, and that fails the run.

use crate::harness::{Db, define};

#[tokio::test]
async fn the_step_and_the_run_fail_with_the_error() {
    let db = Db::with(&define("f", &["a; max_attempts => 1", "b after a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    assert_eq!(run.fail("a", 0, "boom").await, ["failed"]);
    let task = "status, error_message, failed_at >= started_at, completed_at";
    assert_eq!(run.task("a", 0, task).await, "failed|boom|t|NULL");
    assert_eq!(
        run.step("a", "status, error_message, failed_at is not null").await,
        "failed|boom|t"
    );
    assert_eq!(
        run.get("status, failed_at is not null, completed_at, output").await,
        "failed|t|NULL|NULL"
    );
    assert_eq!(run.get("remaining_steps").await, "2");
    assert_eq!(run.steps().await, ["a:failed", "b:created"]);
    db.check().await;
}

#[tokio::test]
async fn the_step_fails_before_the_run_in_the_events() {
    let db = Db::with(&define("f", &["a; max_attempts => 1"])).await;
    let run = db.start("f", "{}").await;
    run.exhaust("a", "boom").await;
    assert_eq!(
        run.events().await,
        ["run:started", "step:a:started", "step:a:failed", "run:failed"]
    );
    assert_eq!(run.event("step:failed", Some("a")).await["error_message"], "boom");
    assert_eq!(run.event("run:failed", None).await["error_message"], "boom");
    db.check().await;
}

#[tokio::test]
async fn every_live_message_of_the_run_is_archived() {
    let db =
        Db::with(&define("f", &["a; max_attempts => 1", "b", "m map; start_delay => 100"])).await;
    let run = db.start("f", "[1, 2]").await;
    let other = db.start("f", "[3]").await;
    db.claim_up_to("f", 2).await;
    assert_eq!(run.fail("a", 0, "boom").await, ["failed"]);
    assert_eq!(db.archive("f").await, ["a#0", "b#0", "m#0", "m#1"]);
    assert_eq!(db.queue("f").await, ["a#0", "b#0", "m#0"], "those of the other run");
    let siblings = ["a#0:failed:1", "b#0:started:1", "m#0:queued:0", "m#1:queued:0"];
    assert_eq!(run.tasks().await, siblings, "a failed run freezes");
    assert_eq!(run.steps().await, ["a:failed", "b:started", "m:started"]);
    assert_eq!(other.status().await, "started");
    db.check().await;
}

#[tokio::test]
async fn one_element_fails_the_map_and_the_run() {
    let db = Db::with(&define("f", &["m map; max_attempts => 1"])).await;
    let run = db.start("f", "[1, 2, 3]").await;
    db.claim_up_to("f", 2).await;
    run.complete("m", 0, "1").await;
    run.fail("m", 1, "boom").await;
    assert_eq!(run.tasks().await, ["m#0:completed:1", "m#1:failed:1", "m#2:queued:0"]);
    assert_eq!(run.step("m", "status, error_message, output").await, "failed|boom|NULL");
    assert_eq!(run.status().await, "failed");
    assert_eq!(db.queue("f").await, [""; 0]);
    assert_eq!(db.archive("f").await, ["m#0", "m#1", "m#2"]);
    db.check().await;
}
