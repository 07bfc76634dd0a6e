//! How long a started task's message stays hidden.

use crate::harness::{Db, define};

const CLAIM: &str = "select pgflow.claim_tasks(array['f'], 10)";

#[tokio::test]
async fn the_timeout_and_two_seconds() {
    let db = Db::with("select pgflow.create_flow('f', timeout => 40)").await;
    db.run("select pgflow.add_step('f', 'a'); select pgflow.add_step('f', 'b', timeout => 90)")
        .await;
    db.start("f", "{}").await;
    let ids = "(select array_agg(message_id) from pgflow.step_tasks)";
    let start = format!("select pgflow.start_tasks('f', {ids}, null)");
    assert_eq!(db.hides("f", &start).await, ["a:42", "b:92"]);
    db.check().await;
}

#[tokio::test]
async fn claiming_hides_for_the_same_time() {
    let db = Db::with(&define("f", &["a; timeout => 30"])).await;
    db.start("f", "{}").await;
    assert_eq!(db.hides("f", CLAIM).await, ["a:32"]);
    db.check().await;
}

#[tokio::test]
async fn the_reservation_of_a_poll_does_not_matter() {
    let db = Db::with(&define("f", &["a; timeout => 30"])).await;
    db.start("f", "{}").await;
    let poll = "select pgflow.poll_for_tasks('f', vt => 500, qty => 1, max_poll_seconds => 1)";
    assert_eq!(db.hides("f", poll).await, ["a:32"]);
    db.check().await;
}

#[tokio::test]
async fn each_start_sets_it_anew() {
    let db = Db::with(&define("f", &["a; timeout => 30"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    run.fail("a", 0, "again").await;
    assert_eq!(db.hides("f", CLAIM).await, ["a:32"]);
    assert_eq!(run.task("a", 0, "status, attempts_count").await, "started|2");
    db.check().await;
}

#[tokio::test]
async fn reading_does_not_start_and_starting_hides_only_what_it_starts() {
    let db = Db::with(&define("f", &["m map; timeout => 30"])).await;
    let run = db.start("f", "[1, 2]").await;
    db.claim_up_to("f", 1).await;
    assert_eq!(run.tasks().await, ["m#0:started:1", "m#1:queued:0"]);
    let visible = "select message->>'task_index' from pgmq.q_f where vt <= clock_timestamp()";
    assert_eq!(db.rows(visible).await, ["1"]);
    db.check().await;
}
