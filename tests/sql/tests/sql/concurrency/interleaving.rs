//! Each action begun while another one on the same task is not committed yet.

use super::settle_race::{ACTIONS, action, drain, stalled};
use crate::harness::{Db, Waiting};

/// The first session holds its transaction open while the second one acts.
async fn overlap(db: &Db, run: &str, actions: [&str; 2], end: &str) {
    let mut one = db.session().await;
    one.run("begin").await;
    one.run(&action(actions[0], run)).await;
    let second = Waiting::for_a_lock_if_any(db, &action(actions[1], run)).await;
    one.run(end).await;
    if let Err(failure) = second.answer().await {
        panic!("{actions:?} {end}: {failure}");
    }
}

async fn every_pair(end: &str) {
    let (db, runs) = stalled(ACTIONS.len() * ACTIONS.len()).await;
    let mut runs = runs.iter();
    for first in ACTIONS {
        for second in ACTIONS {
            overlap(&db, runs.next().expect("a run per pair"), [first, second], end).await;
            db.check().await;
        }
    }
    drain(&db).await;
}

#[tokio::test]
async fn every_pair_of_actions_when_the_first_commits() {
    every_pair("commit").await;
}

#[tokio::test]
async fn every_pair_of_actions_when_the_first_rolls_back() {
    every_pair("rollback").await;
}

#[tokio::test]
async fn nothing_starts_after_a_cancel() {
    let db = Db::with(&crate::harness::define("f", &["a", "m map"])).await;
    let run = db.start("f", "[1, 2]").await;
    let mut one = db.session().await;
    one.run(&format!("begin; select pgflow.cancel_run('{}')", run.id)).await;
    let claim = "select step_slug from pgflow.claim_tasks(array['f'], 10)";
    let claim = Waiting::for_a_lock_if_any(&db, claim).await;
    one.run("commit").await;
    assert_eq!(claim.answer().await, Ok(vec![]));
    assert_eq!(run.tasks().await, ["a#0:queued:0", "m#0:queued:0", "m#1:queued:0"]);
    db.check().await;
}

#[tokio::test]
async fn a_cancel_waits_for_a_claim_to_commit() {
    let db = Db::with(&crate::harness::define("f", &["a", "m map"])).await;
    let run = db.start("f", "[1, 2]").await;
    let mut one = db.session().await;
    one.run("begin; select pgflow.claim_tasks(array['f'], 10)").await;
    let statement = format!("select status from pgflow.cancel_run('{}')", run.id);
    let cancel = Waiting::for_a_lock(&db, &statement).await;
    one.run("commit").await;
    assert_eq!(cancel.answer().await, Ok(vec!["cancelled".to_owned()]));
    assert_eq!(db.queue("f").await, [""; 0]);
    db.check().await;
}
