//! Singleton keys: one leased job per key, over all needs.

use super::{claim, complete, finish, lapse, live, settle, submit_with};
use crate::harness::Db;

async fn keyed(db: &Db, id: &str, need: &str, more: &str) {
    submit_with(db, id, need, &format!("keys => array['k']{more}")).await;
}

async fn key(db: &Db) -> Vec<String> {
    db.rows("select key, jobs, holder, look from pgflow.job_keys").await
}

/// While nobody has the key, the best of each need; nobody may poll one of them.
#[tokio::test]
async fn only_heads_are_ready_and_the_rest_follow_in_line() {
    let db = Db::new().await;
    for id in ["1", "2", "3"] {
        keyed(&db, id, if id == "2" { "b" } else { "a" }, "").await;
    }
    assert_eq!(live(&db).await, ["1:a:ready", "2:b:ready", "3:a:parked"]);
    assert_eq!(claim(&db, &["a", "b"], 9).await, ["1"]);
    assert_eq!(claim(&db, &["a", "b"], 9).await, [""; 0]);
    finish(&db, "1").await;
    complete(&db, "b", "2").await;
    assert_eq!(key(&db).await, ["k|1|NULL|f"]);
    complete(&db, "a", "3").await;
    assert_eq!(key(&db).await, [""; 0]);
    db.check().await;
}

#[tokio::test]
async fn a_better_one_takes_the_place_of_a_ready_head_but_not_of_a_leased_one() {
    let db = Db::new().await;
    keyed(&db, "1", "n", "").await;
    keyed(&db, "2", "n", ", priorities => array[1]").await;
    assert_eq!(live(&db).await, ["1:n:parked", "2:n:ready"]);
    assert_eq!(claim(&db, &["n"], 9).await, ["2"]);
    keyed(&db, "3", "n", ", priorities => array[2]").await;
    assert_eq!(live(&db).await, ["1:n:parked", "2:n:leased a1", "3:n:parked"]);
    finish(&db, "2").await;
    assert_eq!(claim(&db, &["n"], 9).await, ["3"]);
    db.check().await;
}

#[tokio::test]
async fn one_that_sleeps_or_waits_does_not_block_its_key() {
    let db = Db::new().await;
    keyed(&db, "sleeps", "n", ", delays => array[3600000]").await;
    submit_with(&db, "dep", "d", "keys => array['other']").await;
    keyed(&db, "waits", "n", ", edge_jobs => array[1], dependencies => array['dep']").await;
    keyed(&db, "goes", "n", "").await;
    assert_eq!(claim(&db, &["n"], 9).await, ["goes"]);
    complete(&db, "d", "dep").await;
    assert_eq!(live(&db).await, ["sleeps:n:sleeping", "waits:n:parked", "goes:n:leased a1"]);
    db.run("update pgflow.jobs set wake_at = clock_timestamp() where id = 'sleeps'").await;
    assert_eq!(claim(&db, &["n"], 9).await, [""; 0]);
    finish(&db, "goes").await;
    assert_eq!(claim(&db, &["n"], 9).await, ["sleeps"]);
    db.check().await;
}

#[tokio::test]
async fn every_way_to_give_up_a_lease_frees_the_key() {
    let db = Db::new().await;
    keyed(&db, "1", "n", ", priorities => array[1]").await;
    keyed(&db, "2", "m", "").await;
    let ways = [
        ("fail_jobs", ", array['x'], array[3600000]"),
        ("reschedule_jobs", ", array['n'], delays => array[3600000]"),
    ];
    for (function, more) in ways {
        assert_eq!(claim(&db, &["n", "m"], 9).await, ["1"], "{function}");
        settle(&db, function, "1", more).await;
        assert_eq!(live(&db).await[1], "2:m:ready", "{function}");
        db.run("update pgflow.jobs set wake_at = clock_timestamp() where id = '1'; select pgflow.sweep_jobs()").await;
        db.check().await;
    }
    claim(&db, &["n"], 9).await;
    db.run("select pgflow.cancel_jobs(array['1'])").await;
    settle(&db, "release_jobs", "1", "").await;
    complete(&db, "m", "2").await;
    db.check().await;
}

/// The holder was killed: its lease runs out, and it is its own turn again, or that of a better one.
#[tokio::test]
async fn a_lapsed_holder_frees_its_key() {
    let db = Db::new().await;
    keyed(&db, "1", "n", "").await;
    keyed(&db, "2", "m", ", priorities => array[1]").await;
    assert_eq!(claim(&db, &["m"], 9).await, ["2"]);
    keyed(&db, "3", "n", ", priorities => array[2]").await;
    lapse(&db, &["2"]).await;
    assert_eq!(claim(&db, &["n", "m"], 9).await, ["3"]);
    assert_eq!(live(&db).await, ["1:n:parked", "2:m:parked a1 l1 s1", "3:n:leased a1"]);
    finish(&db, "3").await;
    assert_eq!(claim(&db, &["n", "m"], 9).await, ["2"]);
    db.check().await;
}

#[tokio::test]
async fn a_head_that_expires_or_is_cancelled_makes_way() {
    let db = Db::new().await;
    keyed(&db, "expires", "n", ", lifetimes => array[3600000]").await;
    keyed(&db, "next", "n", ", lifetimes => array[3600000]").await;
    db.run("update pgflow.jobs set expires_at = created_at").await;
    keyed(&db, "cancelled", "n", "").await;
    keyed(&db, "goes", "n", "").await;
    db.run("select pgflow.cancel_jobs(array['cancelled'])").await;
    assert_eq!(claim(&db, &["n"], 9).await, ["goes"]);
    assert_eq!(db.one("select expired from pgflow.sweep_jobs()").await, "2");
    assert_eq!(key(&db).await, ["k|1|goes|f"]);
    db.check().await;
}

/// Somebody is about to cancel the next in line, and thinks better of it.
#[tokio::test]
async fn a_locked_successor_is_looked_at_again() {
    let db = Db::new().await;
    keyed(&db, "1", "n", "").await;
    keyed(&db, "2", "n", "").await;
    claim(&db, &["n"], 1).await;
    let mut session = db.session().await;
    session.run("begin; select from pgflow.jobs where id = '2' for update").await;
    finish(&db, "1").await;
    assert_eq!(key(&db).await, ["k|1|NULL|t"]);
    assert_eq!(claim(&db, &["n"], 1).await, [""; 0]);
    session.run("rollback").await;
    assert_eq!(claim(&db, &["n"], 1).await, ["2"]);
    db.check().await;
}

/// Each claimer holds a row that the other would have to park.
#[tokio::test]
async fn two_claims_of_one_key_do_not_wait_for_each_other() {
    let db = Db::new().await;
    keyed(&db, "1", "n", "").await;
    keyed(&db, "2", "m", "").await;
    let mut open = db.session().await;
    open.run("begin; select from pgflow.jobs where id = '2' for update").await;
    let mut other = db.session().await;
    other.run("set lock_timeout = '2s'").await;
    assert_eq!(other.rows("select id from pgflow.claim_jobs('w', array['n'], 60, 5)").await, ["1"]);
    assert_eq!(key(&db).await, ["k|2|1|t"], "what could not be parked is looked at again");
    open.run("rollback").await;
    db.check().await;
    assert_eq!(claim(&db, &["m"], 5).await, [""; 0]);
    assert_eq!(live(&db).await, ["1:n:leased a1", "2:m:parked"]);
    assert_eq!(key(&db).await, ["k|2|1|f"]);
    db.check().await;
}

/// A claim that is not committed yet has its key: others of the key are passed over.
#[tokio::test]
async fn an_open_claim_keeps_its_key_from_other_needs() {
    let db = Db::new().await;
    keyed(&db, "1", "n", "").await;
    keyed(&db, "2", "m", "").await;
    submit_with(&db, "3", "m", "keys => array['other']").await;
    let mut open = db.session().await;
    assert_eq!(
        open.rows("begin; select id from pgflow.claim_jobs('o', array['n'], 60, 5)").await,
        ["1"]
    );
    assert_eq!(claim(&db, &["m"], 1).await, ["3"]);
    open.run("commit").await;
    assert_eq!(claim(&db, &["m"], 1).await, [""; 0]);
    finish(&db, "1").await;
    assert_eq!(claim(&db, &["m"], 1).await, ["2"]);
    db.check().await;
}
