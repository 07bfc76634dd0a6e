//! The sweep: what nobody else may come to do.

use super::{archive, claim, lapse, live, submit, submit_after, submit_with};
use crate::harness::Db;

#[tokio::test]
async fn everything_that_is_due_is_done_in_one_sweep() {
    let db = Db::new().await;
    submit_with(&db, "lapses", "n", "priorities => array[9]").await;
    submit_with(&db, "crashes", "n", "priorities => array[9], max_attempts => array[1]").await;
    submit_with(&db, "cancelled", "n", "priorities => array[9]").await;
    claim(&db, &["n"], 3).await;
    submit_with(&db, "wakes", "n", "delays => array[3600000]").await;
    submit_with(&db, "expires", "n", "lifetimes => array[0]").await;
    submit_after(&db, "waits", &["expires"], "fail").await;
    submit_with(
        &db,
        "late",
        "n",
        "lifetimes => array[1], edge_jobs => array[1], dependencies => array['lapses']",
    )
    .await;
    db.run("select pgflow.cancel_jobs(array['cancelled'])").await;
    lapse(&db, &["lapses", "crashes", "cancelled"]).await;
    db.run("update pgflow.jobs set wake_at = clock_timestamp() where id = 'wakes'; select pg_sleep(0.01)").await;
    assert_eq!(
        db.one("select lapsed, woken, ended, in_concern from pgflow.sweep_jobs()").await,
        "1|1|4|0"
    );
    assert_eq!(live(&db).await, ["lapses:n:ready a1 l1 s1", "wakes:n:ready"]);
    assert_eq!(
        archive(&db).await,
        [
            "crashes:crashed",
            "cancelled:cancelled",
            "expires:expired",
            "waits:failed",
            "late:expired"
        ]
    );
    assert_eq!(
        db.one("select lapsed, woken, ended, in_concern from pgflow.sweep_jobs()").await,
        "0|0|0|0"
    );
    db.check().await;
}

#[tokio::test]
async fn a_sweep_passes_over_what_somebody_holds() {
    let db = Db::new().await;
    submit_with(&db, "held", "n", "lifetimes => array[0]").await;
    submit_with(&db, "free", "n", "lifetimes => array[0]").await;
    let mut session = db.session().await;
    session.run("begin; select from pgflow.jobs where id = 'held' for update").await;
    let mut sweeper = db.session().await;
    sweeper.run("set lock_timeout = '2s'").await;
    assert_eq!(sweeper.one("select ended from pgflow.sweep_jobs()").await, "1");
    session.run("rollback").await;
    assert_eq!(sweeper.one("select ended from pgflow.sweep_jobs()").await, "1");
    db.check().await;
}

#[tokio::test]
async fn a_sweep_does_no_more_than_asked_for() {
    let db = Db::new().await;
    submit(&db, "n", &["1", "2", "3"]).await;
    db.run("update pgflow.jobs set expires_at = created_at").await;
    assert_eq!(db.one("select ended from pgflow.sweep_jobs('w', 2)").await, "2");
    assert_eq!(db.one("select ended from pgflow.sweep_jobs('w', 2)").await, "1");
    assert_eq!(db.error("select pgflow.sweep_jobs('w', 0)").await.code, "22023");
    db.check().await;
}

/// A leased job that expires may still finish; when it comes back it is not leased again.
#[tokio::test]
async fn expiry_does_not_take_a_lease_away() {
    let db = Db::new().await;
    submit_with(&db, "x", "n", "lifetimes => array[3600000]").await;
    claim(&db, &["n"], 1).await;
    db.run("update pgflow.jobs set expires_at = clock_timestamp()").await;
    assert_eq!(db.one("select ended from pgflow.sweep_jobs()").await, "0");
    super::settle(&db, "release_jobs", "x", "").await;
    assert_eq!(claim(&db, &["n"], 1).await, [""; 0]);
    db.run("select pgflow.sweep_jobs()").await;
    assert_eq!(archive(&db).await, ["x:expired"]);
    db.check().await;
}

/// A ring that slipped through: said by every sweep, traced once.
#[tokio::test]
async fn rings_are_reported() {
    let db = Db::new().await;
    db.run(
        "select pgflow.submit_jobs(array['a', 'b', 'c', 'free'], array['n', 'n', 'n', 'n'],
              edge_jobs => array[2, 3, 4], dependencies => array['a', 'b', 'c'])",
    )
    .await;
    db.run("select pgflow.sweep_jobs()").await;
    let traced = "select job from pgflow.job_trace where kind = 'ring' order by job";
    assert_eq!(db.rows(traced).await, [""; 0]);
    db.run(
        "insert into pgflow.job_edges values ('a', 1, 'job', 'c', 'release');
            update pgflow.jobs set waits = 1, state = 'waiting' where id = 'a'",
    )
    .await;
    for _ in 0..2 {
        db.run("select pgflow.sweep_jobs('s')").await;
        assert_eq!(db.rows(traced).await, ["a", "b", "c"]);
    }
    assert_eq!(
        db.rows("select detail from pgflow.check() order by 1").await,
        ["job a waits for itself", "job b waits for itself", "job c waits for itself"]
    );
    db.run("select pgflow.cancel_jobs(array['b'])").await;
    db.run("select pgflow.sweep_jobs('s')").await;
    assert_eq!(super::live(&db).await, ["a:n:waiting w1", "c:n:ready", "free:n:waiting w1"]);
    db.check().await;
}
