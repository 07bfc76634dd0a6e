//! Handing over: to another need, to later, to after others.

use super::{archive, claim, complete, live, settle, submit, submit_with};
use crate::harness::Db;

#[tokio::test]
async fn a_job_goes_on_as_another_need_at_its_old_place() {
    let db = Db::new().await;
    submit_with(&db, "x", "ingest", "keys => array['k'], priorities => array[3], max_attempts => array[2], lifetimes => array[3600000]").await;
    submit(&db, "merge", &["younger"]).await;
    claim(&db, &["ingest"], 1).await;
    let before = db
        .one("select seq, key, priority, expires_at, created_at from pgflow.jobs where id = 'x'")
        .await;
    let more = ", array['merge'], array['{\"draft\": 1}']::jsonb[], max_attempts => array[7]";
    assert_eq!(settle(&db, "reschedule_jobs", "x", more).await, "applied");
    assert_eq!(live(&db).await, ["x:merge:ready a1", "younger:merge:ready"]);
    let after = db
        .one("select seq, key, priority, expires_at, created_at from pgflow.jobs where id = 'x'")
        .await;
    assert_eq!(after, before);
    assert_eq!(
        db.rows("select id, payload, max_attempts, attempt from pgflow.claim_jobs('w', array['merge'], 60, 1)").await,
        ["x|{\"draft\": 1}|7|2"]
    );
    db.check().await;
}

#[tokio::test]
async fn a_payload_stays_if_none_is_given() {
    let db = Db::new().await;
    submit_with(&db, "x", "n", "payloads => array['{\"a\": 1}']::jsonb[]").await;
    claim(&db, &["n"], 1).await;
    settle(&db, "reschedule_jobs", "x", ", array['m'], delays => array[3600000]").await;
    assert_eq!(db.one("select state, payload from pgflow.jobs").await, "sleeping|{\"a\": 1}");
    db.check().await;
}

#[tokio::test]
async fn a_streak_ends_with_a_hand_over() {
    let db = Db::new().await;
    submit(&db, "n", &["x"]).await;
    claim(&db, &["n"], 1).await;
    super::lapse(&db, &["x"]).await;
    claim(&db, &["n"], 1).await;
    settle(&db, "reschedule_jobs", "x", ", array['m']").await;
    assert_eq!(live(&db).await, ["x:m:ready a2 l1"]);
    db.check().await;
}

#[tokio::test]
async fn a_parent_waits_for_its_children() {
    let db = Db::new().await;
    submit(&db, "ingest", &["parent"]).await;
    claim(&db, &["ingest"], 1).await;
    submit(&db, "page", &["c1", "c2"]).await;
    let more = ", array['merge'], edge_jobs => array[1, 1], dependencies => array['c1', 'c2']";
    assert_eq!(settle(&db, "reschedule_jobs", "parent", more).await, "applied");
    assert_eq!(live(&db).await[0], "parent:merge:waiting w2 a1");
    assert_eq!(claim(&db, &["merge"], 1).await, [""; 0]);
    complete(&db, "page", "c1").await;
    assert_eq!(live(&db).await[0], "parent:merge:waiting w1 a1");
    complete(&db, "page", "c2").await;
    complete(&db, "merge", "parent").await;
    assert_eq!(archive(&db).await, ["parent:done", "c1:done", "c2:done"]);
    db.check().await;
}

/// The children may be over before their parent has said that it waits for them.
#[tokio::test]
async fn children_that_are_over_are_not_waited_for() {
    let db = Db::new().await;
    submit(&db, "ingest", &["parent"]).await;
    claim(&db, &["ingest"], 1).await;
    submit(&db, "page", &["c1", "c2"]).await;
    complete(&db, "page", "c1").await;
    complete(&db, "page", "c2").await;
    let more = ", array['merge'], edge_jobs => array[1, 1], dependencies => array['c1', 'c2']";
    settle(&db, "reschedule_jobs", "parent", more).await;
    assert_eq!(live(&db).await, ["parent:merge:ready a1"]);
    db.check().await;
}

#[tokio::test]
async fn a_ring_is_refused_and_changes_nothing() {
    let db = Db::new().await;
    submit(&db, "n", &["a"]).await;
    super::submit_after(&db, "b", &["a"], "release").await;
    super::submit_after(&db, "c", &["b"], "release").await;
    claim(&db, &["n"], 1).await;
    for dependency in ["a", "b", "c"] {
        let call = format!(
            "select pgflow.reschedule_jobs(array['a'], array(select token::text from pgflow.jobs where id = 'a'), array['m'],
               edge_jobs => array[1], dependencies => array['{dependency}'])"
        );
        let refused = db.error(&call).await;
        assert_eq!(refused.code, "22023");
        assert_eq!(
            refused.detail.expect("a problem"),
            format!(r#"{{"job": "a", "problem": "ring", "dependency": "{dependency}"}}"#)
        );
    }
    assert_eq!(live(&db).await[0], "a:n:leased a1");
    db.check().await;
}

/// Of two who would close a ring together one waits, and sees it.
#[tokio::test]
async fn a_ring_that_two_close_at_once_is_refused() {
    let db = Db::new().await;
    submit(&db, "n", &["a", "b"]).await;
    claim(&db, &["n"], 2).await;
    let call = |own: &str, other: &str| {
        format!(
            "select outcome from pgflow.reschedule_jobs(array['{own}'], array(select token::text from pgflow.jobs where id = '{own}'),
               array['m'], edge_jobs => array[1], dependencies => array['{other}'])"
        )
    };
    let mut first = db.session().await;
    first.run("begin").await;
    first.run(&call("a", "b")).await;
    let second = crate::harness::Waiting::for_a_lock(&db, &call("b", "a")).await;
    first.run("commit").await;
    let refused = second.answer().await.expect_err("a ring");
    assert_eq!(
        refused.detail.expect("a problem"),
        r#"{"job": "b", "problem": "ring", "dependency": "a"}"#
    );
    assert_eq!(live(&db).await, ["a:m:waiting w1 a1", "b:n:leased a1"]);
    db.check().await;
}

/// What attempts a job had as another need does not count.
#[tokio::test]
async fn a_hand_over_starts_a_new_budget() {
    let db = Db::new().await;
    submit_with(&db, "x", "n", "max_attempts => array[1]").await;
    claim(&db, &["n"], 1).await;
    settle(&db, "reschedule_jobs", "x", ", array['m'], max_attempts => array[2]").await;
    for _ in 0..2 {
        assert_eq!(claim(&db, &["m"], 1).await, ["x"]);
        assert_eq!(settle(&db, "fail_jobs", "x", ", array['boom']").await, "applied");
    }
    assert_eq!(archive(&db).await, ["x:failed"]);
    assert_eq!(
        db.one("select attempts, forgiven, failures from pgflow.job_archive").await,
        "3|1|2"
    );
    db.check().await;
}
