//! Each action begun while another one on the same task is not committed yet.

use super::settle_race::{ACTIONS, action, drain, stalled};
use crate::harness::Db;

/// The first session holds its transaction open while the second one acts.
async fn overlap(db: &Db, run: &str, actions: [&str; 2], end: &str) {
    let (mut one, mut two) = (db.session().await, db.session().await);
    one.run("begin").await;
    one.run(&action(actions[0], run)).await;
    let statement = action(actions[1], run);
    let second = tokio::spawn(async move { two.ask(&statement).await });
    tokio::time::sleep(std::time::Duration::from_millis(15)).await;
    one.run(end).await;
    if let Err(failure) = second.await.expect("no panic") {
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
    let (mut one, mut two) = (db.session().await, db.session().await);
    one.run(&format!("begin; select pgflow.cancel_run('{}')", run.id)).await;
    let claim = tokio::spawn(async move {
        two.rows("select step_slug from pgflow.claim_tasks(array['f'], 10)").await
    });
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    one.run("commit").await;
    assert_eq!(claim.await.expect("no panic"), [""; 0]);
    assert_eq!(run.tasks().await, ["a#0:queued:0", "m#0:queued:0", "m#1:queued:0"]);
    db.check().await;
}

#[tokio::test]
async fn a_cancel_waits_for_a_claim_to_commit() {
    let db = Db::with(&crate::harness::define("f", &["a", "m map"])).await;
    let run = db.start("f", "[1, 2]").await;
    let (mut one, mut two) = (db.session().await, db.session().await);
    one.run("begin; select pgflow.claim_tasks(array['f'], 10)").await;
    let statement = format!("select status from pgflow.cancel_run('{}')", run.id);
    let cancel = tokio::spawn(async move { two.rows(&statement).await });
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    one.run("commit").await;
    assert_eq!(cancel.await.expect("no panic"), ["cancelled"]);
    assert_eq!(db.queue("f").await, [""; 0]);
    db.check().await;
}
