//! Messages of what does not run.

use crate::harness::{Db, define};

/// Hidden for the reservation, not for the flow's timeout: the task may be queued a moment later.
#[tokio::test]
async fn a_message_that_started_nothing_is_hidden_for_the_reservation_only() {
    let db = Db::with(
        "select pgflow.create_flow('f', timeout => 3600); select pgflow.add_step('f', 'a')",
    )
    .await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    db.wake("f").await;
    let poll = "select * from pgflow.poll_for_tasks('f', 7, 1, max_poll_seconds => 0)";
    assert_eq!(db.rows(poll).await, [""; 0]);
    let hidden = "select vt - clock_timestamp() between interval '4 seconds' and interval '7 seconds' from pgmq.q_f";
    assert_eq!(db.one(hidden).await, "t");
    assert_eq!(run.tasks().await, ["a#0:started:1"]);
}

/// Its worker is lost and no sweep has come by: a claim of one task finds the next.
#[tokio::test]
async fn a_message_that_starts_nothing_hides_none_behind_it() {
    let db = Db::with(&define("f", &["a", "b", "c"])).await;
    let run = db.start("f", "{}").await;
    db.run("select pgflow.claim_tasks(array['f'], 2)").await;
    db.run("update pgmq.q_f set vt = clock_timestamp() - interval '1 hour' where vt > clock_timestamp()").await;
    let claim = "select step_slug from pgflow.claim_tasks(array['f'], 1)";
    assert_eq!(db.rows(claim).await, ["c"]);
    assert_eq!(db.rows(claim).await, [""; 0]);
    assert_eq!(run.tasks().await, ["a#0:started:1", "b#0:started:1", "c#0:started:1"]);
}

/// Its run is over: nobody should wait for it longer.
#[tokio::test]
async fn a_heartbeat_after_the_end_extends_nothing() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    db.run(&format!("select pgflow.cancel_run('{}')", run.id)).await;
    let beat = format!(
        "select outcome from pgflow.heartbeat(array['{}']::uuid[], array['a'], array[0], array[1])",
        run.id
    );
    assert_eq!(db.rows(&beat).await, ["cancelled"]);
    assert_eq!(run.task("a", 0, "lease_until").await, "NULL");
}

#[tokio::test]
async fn a_claim_hides_for_the_flows_timeout_and_two_seconds() {
    let db = Db::with(
        "select pgflow.create_flow('f', timeout => 40);
         select pgflow.add_step('f', 'a'); select pgflow.add_step('f', 'b', timeout => 90)",
    )
    .await;
    db.start("f", "{}").await;
    let claim = "select pgflow.claim_tasks(array['f'], 10)";
    assert_eq!(db.hides("f", claim).await, ["a:42", "b:92"]);
    db.check().await;
}

/// pgmq folds the case of a queue's tables; the slug keeps its own.
#[tokio::test]
async fn a_flow_with_capitals_works_from_start_to_end() {
    let db = Db::with(&define("MyFlow", &["a; timeout => 30"])).await;
    let run = db.start("MyFlow", "{}").await;
    db.run("select pgflow.claim_tasks(array['MyFlow'], 1)").await;
    assert_eq!(run.fail("a", 0, "again").await, ["queued"]);
    let claim = "select pgflow.claim_tasks(array['MyFlow'], 1)";
    assert_eq!(db.hides("myflow", claim).await, ["a:32"]);
    assert_eq!(run.complete("a", 0, "1").await, ["completed"]);
    assert_eq!(run.status().await, "completed");
    db.check().await;
}
