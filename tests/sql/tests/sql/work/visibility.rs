//! How long a started task's message stays hidden.

use crate::harness::{Db, define};

/// Seconds until the message of a step is visible again, rounded.
fn hidden(step: &str) -> String {
    format!(
        "select round(extract(epoch from vt - clock_timestamp())) from pgmq.q_f
         where message->>'step_slug' = '{step}'"
    )
}

async fn assert_hidden(db: &Db, step: &str, seconds: i64) {
    let left: i64 = db.one(&hidden(step)).await.parse().expect("seconds");
    assert!((seconds - 3..=seconds).contains(&left), "{step}: {left} s, not {seconds}");
}

#[tokio::test]
async fn the_timeout_and_two_seconds() {
    let db = Db::with("select pgflow.create_flow('f', timeout => 40)").await;
    db.run("select pgflow.add_step('f', 'a'); select pgflow.add_step('f', 'b', timeout => 90)")
        .await;
    db.start("f", "{}").await;
    let ids = "(select array_agg(message_id) from pgflow.step_tasks)";
    db.run(&format!("select pgflow.start_tasks('f', {ids}, null)")).await;
    assert_hidden(&db, "a", 42).await;
    assert_hidden(&db, "b", 92).await;
    db.check().await;
}

#[tokio::test]
async fn claiming_hides_for_the_same_time() {
    let db = Db::with(&define("f", &["a; timeout => 30"])).await;
    db.start("f", "{}").await;
    db.claim("f").await;
    assert_hidden(&db, "a", 32).await;
    db.check().await;
}

#[tokio::test]
async fn the_reservation_of_a_poll_does_not_matter() {
    let db = Db::with(&define("f", &["a; timeout => 30"])).await;
    db.start("f", "{}").await;
    db.run("select pgflow.poll_for_tasks('f', vt => 500, qty => 1, max_poll_seconds => 1)").await;
    assert_hidden(&db, "a", 32).await;
    db.check().await;
}

#[tokio::test]
async fn each_start_sets_it_anew() {
    let db = Db::with(&define("f", &["a; timeout => 30"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    run.fail("a", 0, "again").await;
    db.claim("f").await;
    assert_hidden(&db, "a", 32).await;
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
