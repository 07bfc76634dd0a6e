//! Submitting.

use super::{archive, claim, complete, list, live, submit, submit_with};
use crate::harness::Db;

#[tokio::test]
async fn jobs_stand_in_line_as_they_were_submitted() {
    let db = Db::new().await;
    submit(&db, "scan", &["b", "a", "c"]).await;
    assert_eq!(live(&db).await, ["b:scan:ready", "a:scan:ready", "c:scan:ready"]);
    assert_eq!(claim(&db, &["scan"], 2).await, ["b", "a"]);
    db.check().await;
}

#[tokio::test]
async fn an_id_is_made_where_none_is_given() {
    let db = Db::new().await;
    let ids = db
        .rows("select id from pgflow.submit_jobs(array[null, null]::text[], array['n', 'n'])")
        .await;
    assert!(ids.len() == 2 && ids[0] != ids[1] && ids.iter().all(|id| id.len() == 36), "{ids:?}");
    let later = db.one("select id from pgflow.submit_jobs(null, array['n'])").await;
    assert!(later > ids[0], "ids sort by time");
}

#[tokio::test]
async fn a_name_is_not_used_twice_live_or_archived() {
    let db = Db::new().await;
    submit(&db, "n", &["once", "over"]).await;
    complete(&db, "n", "once").await;
    let again = "select id, outcome from pgflow.submit_jobs(array['once', 'over', 'new', 'new'], array['n', 'n', 'n', 'm'])";
    assert_eq!(db.rows(again).await, ["once|exists", "over|exists", "new|submitted", "new|exists"]);
    assert_eq!(live(&db).await, ["over:n:ready", "new:n:ready"]);
    assert_eq!(archive(&db).await, ["once:done"]);
    db.run("select pgflow.prune_jobs('0 seconds')").await;
    submit(&db, "n", &["once"]).await;
    db.check().await;
}

#[tokio::test]
async fn priority_comes_before_place() {
    let db = Db::new().await;
    submit(&db, "n", &["late"]).await;
    submit_with(&db, "soon", "n", "priorities => array[5]").await;
    submit_with(&db, "last", "n", "priorities => array[-1]").await;
    assert_eq!(claim(&db, &["n"], 5).await, ["soon", "late", "last"]);
}

#[tokio::test]
async fn a_delay_is_slept_and_a_lifetime_ends() {
    let db = Db::new().await;
    submit_with(&db, "later", "n", "delays => array[3600000]").await;
    submit_with(&db, "then", "n", "wake_ats => array[timestamptz '2100-01-01']").await;
    submit_with(&db, "now", "n", "wake_ats => array[timestamptz '2000-01-01']").await;
    submit_with(&db, "short", "n", "lifetimes => array[0]").await;
    assert_eq!(live(&db).await[..2], ["later:n:sleeping", "then:n:sleeping"]);
    assert_eq!(claim(&db, &["n"], 5).await, ["now"]);
    db.run("update pgflow.jobs set wake_at = clock_timestamp() where id = 'later'").await;
    assert_eq!(claim(&db, &["n"], 5).await, ["later"]);
    assert_eq!(live(&db).await[3], "short:n:expired");
    db.check().await;
}

#[tokio::test]
async fn a_batch_belongs_to_its_transaction() {
    let db = Db::new().await;
    let mut session = db.session().await;
    session
        .run("begin; select pgflow.submit_jobs(array['x'], array['n'], keys => array['k'])")
        .await;
    assert_eq!(claim(&db, &["n"], 5).await, [""; 0]);
    session.run("rollback").await;
    assert_eq!(live(&db).await, [""; 0]);
    session
        .run("begin; select pgflow.submit_jobs(array['x'], array['n'], keys => array['k']); commit")
        .await;
    assert_eq!(claim(&db, &["n"], 5).await, ["x"]);
    db.check().await;
}

#[tokio::test]
async fn two_who_submit_the_same_names_wait_in_turn() {
    let db = Db::new().await;
    let mut first = db.session().await;
    first.run("begin; select pgflow.submit_jobs(array['a', 'b'], array['n', 'n'])").await;
    let call = format!(
        "select id, outcome from pgflow.submit_jobs({}, array['n', 'n', 'n'])",
        list(&["c", "b", "a"])
    );
    let second = crate::harness::Waiting::for_a_lock(&db, &call).await;
    first.run("commit").await;
    assert_eq!(second.answer().await.expect("an answer"), ["c|submitted", "b|exists", "a|exists"]);
    db.check().await;
}

/// The insert waits for the end of the live job, which is archived by then.
#[tokio::test]
async fn a_name_that_is_archived_meanwhile_is_not_used() {
    let db = Db::new().await;
    submit(&db, "n", &["x"]).await;
    let mut first = db.session().await;
    first.run("begin; select pgflow.finish_jobs(array_agg(id), array_agg(token)) from pgflow.claim_jobs('w', array['n'], 60, 1)").await;
    let second = crate::harness::Waiting::for_a_lock_if_any(
        &db,
        "select outcome from pgflow.submit_jobs(array['x'], array['n'])",
    )
    .await;
    first.run("commit").await;
    assert_eq!(second.answer().await.expect("an answer"), ["exists"]);
    db.check().await;
}
