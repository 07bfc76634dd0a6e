//! A retry and somebody who still settles tasks of the failed run.

use crate::harness::{Db, Waiting, define};

/// Map steps before runs: the retry must not hold the run while it waits for the step.
#[tokio::test]
async fn a_retry_waits_for_map_steps_before_it_takes_the_run() {
    let db = Db::with(&define("f", &["m map; max_attempts => 1", "a"])).await;
    let run = db.start("f", "[1, 2]").await;
    db.claim("f").await;
    run.fail("m", 0, "boom").await;
    let mut one = db.session().await;
    let lock = "select from pgflow.step_states where step_slug = 'm' for no key update";
    one.run(&format!("begin; {lock}")).await;
    let retry = format!("select status from pgflow.retry_run('{}')", run.id);
    let waiting = Waiting::for_a_lock(&db, &retry).await;
    one.run("select from pgflow.runs for no key update").await;
    one.run("commit").await;
    assert_eq!(waiting.answer().await, Ok(vec!["started".to_owned()]));
    db.check().await;
}

#[tokio::test]
async fn two_retries_open_the_run_once() {
    let db = Db::with(&define("f", &["a; max_attempts => 1"])).await;
    let run = db.start("f", "{}").await;
    run.exhaust("a", "boom").await;
    let mut one = db.session().await;
    let retry = format!("select status from pgflow.retry_run('{}')", run.id);
    one.run(&format!("begin; {retry}")).await;
    let waiting = Waiting::for_a_lock(&db, &retry).await;
    one.run("commit").await;
    let failure = waiting.answer().await.expect_err("the run is open by now");
    assert!(failure.message.contains("is started"), "{failure}");
    assert_eq!(db.queue("f").await, ["a#0"]);
    db.check().await;
}
