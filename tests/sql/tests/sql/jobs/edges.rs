//! Waiting for other jobs, and what their end does.

use super::{archive, claim, complete, live, settle, submit, submit_after};
use crate::harness::Db;

#[tokio::test]
async fn any_end_releases_by_default() {
    for end in ["finish_jobs", "fail_jobs", "cancel"] {
        let db = Db::new().await;
        submit(&db, "n", &["dep"]).await;
        submit_after(&db, "waiter", &["dep"], "release").await;
        claim(&db, &["n"], 1).await;
        match end {
            "finish_jobs" => settle(&db, end, "dep", "").await,
            "fail_jobs" => settle(&db, end, "dep", ", array['x'], null, array[true]").await,
            _ => {
                db.run("select pgflow.cancel_jobs(array['dep'])").await;
                settle(&db, "release_jobs", "dep", "").await
            }
        };
        assert_eq!(live(&db).await, ["waiter:join:ready"], "{end}");
        db.check().await;
    }
}

#[tokio::test]
async fn a_policy_passes_a_bad_end_on_and_a_good_one_not() {
    let db = Db::new().await;
    submit(&db, "n", &["bad", "good"]).await;
    submit_after(&db, "fails", &["bad", "good"], "fail").await;
    submit_after(&db, "cancelled", &["bad", "good"], "cancel").await;
    submit_after(&db, "goes-on", &["good"], "fail").await;
    submit_after(&db, "behind", &["fails"], "fail").await;
    submit_after(&db, "released", &["fails", "cancelled"], "release").await;
    claim(&db, &["n"], 1).await;
    settle(&db, "fail_jobs", "bad", ", array['boom'], null, array[true]").await;
    assert_eq!(
        archive(&db).await,
        ["bad:failed", "fails:failed", "cancelled:cancelled", "behind:failed"]
    );
    assert_eq!(
        db.rows("select error from pgflow.job_archive where outcome = 'failed' order by seq").await,
        ["boom", "dependency bad ended failed", "dependency fails ended failed"]
    );
    complete(&db, "n", "good").await;
    assert_eq!(live(&db).await, ["goes-on:join:ready", "released:join:ready"]);
    assert_eq!(db.one("select count(*) from pgflow.job_edges").await, "0");
    db.check().await;
}

#[tokio::test]
async fn a_dependency_that_ended_badly_before_counts_too() {
    let db = Db::new().await;
    submit(&db, "n", &["bad"]).await;
    claim(&db, &["n"], 1).await;
    settle(&db, "fail_jobs", "bad", ", array['boom'], null, array[true]").await;
    submit_after(&db, "released", &["bad"], "release").await;
    submit_after(&db, "fails", &["bad"], "fail").await;
    assert_eq!(live(&db).await, ["released:join:ready"]);
    assert_eq!(archive(&db).await, ["bad:failed", "fails:failed"]);
    db.check().await;
}

#[tokio::test]
async fn a_dependency_may_be_named_twice() {
    let db = Db::new().await;
    submit(&db, "n", &["dep"]).await;
    submit_after(&db, "waiter", &["dep", "dep"], "release").await;
    assert_eq!(live(&db).await[1], "waiter:join:waiting w2");
    complete(&db, "n", "dep").await;
    assert_eq!(live(&db).await, ["waiter:join:ready"]);
    db.check().await;
}

/// For those that come before them in it.
#[tokio::test]
async fn jobs_of_a_batch_may_wait_for_earlier_ones() {
    let db = Db::new().await;
    let batch = |edges: &str| {
        format!(
            "select pgflow.submit_jobs(array['a', 'b', 'c'], array['n', 'n', 'n'], edge_jobs => array[2, 3], dependencies => array[{edges}])"
        )
    };
    for edges in ["'c', 'b'", "'b', 'b'"] {
        assert_eq!(db.error(&batch(edges)).await.code, "23503", "{edges}");
    }
    db.run(&batch("'a', 'b'")).await;
    assert_eq!(live(&db).await, ["a:n:ready", "b:n:waiting w1", "c:n:waiting w1"]);
    for id in ["a", "b", "c"] {
        complete(&db, "n", id).await;
    }
    db.check().await;
}

#[tokio::test]
async fn a_released_job_sleeps_on_if_its_moment_has_not_come() {
    let db = Db::new().await;
    submit(&db, "n", &["dep"]).await;
    super::submit_with(
        &db,
        "waiter",
        "m",
        "delays => array[3600000], edge_jobs => array[1], dependencies => array['dep']",
    )
    .await;
    assert_eq!(live(&db).await[1], "waiter:m:waiting w1");
    complete(&db, "n", "dep").await;
    assert_eq!(live(&db).await, ["waiter:m:sleeping"]);
    db.check().await;
}

#[tokio::test]
async fn what_a_cancelled_waiter_waited_for_is_kept() {
    let db = Db::new().await;
    submit(&db, "n", &["a", "b"]).await;
    submit_after(&db, "waiter", &["b", "a"], "release").await;
    db.run("select pgflow.cancel_jobs(array['waiter'])").await;
    assert_eq!(db.one("select waited_for from pgflow.job_archive").await, "{b,a}");
    assert_eq!(db.one("select count(*) from pgflow.job_edges").await, "0");
    db.check().await;
}

/// One transaction per child, a counter on the waiter: the work is that of the children.
#[tokio::test]
async fn a_wide_join_counts_down() {
    let db = Db::new().await;
    db.run("select pgflow.submit_jobs(array(select 'c' || i from generate_series(1, 2000) i), array_fill('n'::text, array[2000]))").await;
    db.run("select pgflow.submit_jobs(array['join'], array['join'], edge_jobs => array_fill(1, array[2000]),
              dependencies => array(select 'c' || i from generate_series(1, 2000) i))").await;
    for _ in 0..20 {
        db.run("select pgflow.finish_jobs(array_agg(id), array_agg(token)) from pgflow.claim_jobs('w', array['n'], 60, 100)").await;
    }
    assert_eq!(live(&db).await, ["join:join:ready"]);
    db.check().await;
}
