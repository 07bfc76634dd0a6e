//! What is no type violation.

use crate::harness::{Db, define};

#[tokio::test]
async fn a_queued_task_cannot_violate() {
    let db = Db::with(&define("f", &["a", "m map after a"])).await;
    let run = db.start("f", "{}").await;
    run.complete("a", 0, "1").await;
    assert_eq!(run.get("status").await, "started");
    assert_eq!(run.tasks().await, ["a#0:queued:0"]);
    db.check().await;
}

#[tokio::test]
async fn a_map_that_feeds_a_map_may_put_out_anything() {
    let db = Db::with(&define("f", &["m map", "n map after m"])).await;
    let run = db.start("f", "[1]").await;
    db.claim("f").await;
    assert_eq!(run.complete("m", 0, None).await, ["completed"]);
    assert_eq!(run.steps().await, ["m:completed", "n:started"]);
    db.check().await;
}

#[tokio::test]
async fn a_single_that_feeds_singles_may_put_out_anything() {
    let db = Db::with(&define("f", &["a", "b after a"])).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "\"text\"").await;
    assert_eq!(run.steps().await, ["a:completed", "b:started"]);
    db.check().await;
}

#[tokio::test]
async fn a_map_added_after_the_start_does_not_bind_the_run() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.run("select pgflow.add_step('f', 'm', array['a'], step_type => 'map')").await;
    run.finish("a", "1").await;
    assert_eq!(run.status().await, "completed");
    db.check().await;
}
