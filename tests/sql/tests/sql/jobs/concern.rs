//! Jobs that lose their worker again and again.

use super::{claim, lapse, live, settle, submit};
use crate::harness::Db;

async fn status(db: &Db, id: &str) -> String {
    db.one(&format!("select status from pgflow.get_jobs(array['{id}'])")).await
}

/// With a threshold of n it is the lease n + 1 that must not lapse, whoever counts.
#[tokio::test]
async fn a_streak_past_the_threshold_sets_a_job_aside() {
    for swept in [false, true] {
        let db = Db::new().await;
        db.run("select pgflow.set_job_settings(crash_threshold => 2)").await;
        submit(&db, "n", &["x"]).await;
        for streak in 0..3 {
            assert_eq!(claim(&db, &["n"], 1).await, ["x"], "{streak}");
            lapse(&db, &["x"]).await;
            if swept {
                db.run("select pgflow.sweep_jobs()").await;
            }
        }
        assert_eq!(status(&db, "x").await, "CRASH_CONCERN");
        assert_eq!(claim(&db, &["n"], 1).await, [""; 0]);
        assert_eq!(live(&db).await, ["x:n:concern a3 l3 s3"]);
        db.check().await;
        assert_eq!(
            db.one("select outcome from pgflow.clear_concern(array['x'], 'fixed', 'ops')").await,
            "cleared"
        );
        assert_eq!(live(&db).await, ["x:n:ready a3 l3"]);
        assert_eq!(
            db.rows("select outcome from pgflow.clear_concern(array['x', 'nobody'])").await,
            ["no_concern", "unknown"]
        );
        assert_eq!(claim(&db, &["n"], 1).await, ["x"]);
        db.check().await;
    }
}

/// It ends by its attempts, whoever counts and whatever the threshold says. One without a number of attempts is set aside, as a job is.
#[tokio::test]
async fn a_message_with_a_budget_is_not_set_aside() {
    const QUEUE: &str = r#"select pgflow.note_permits('{stage}', '{q}', array['{"of_queue": true, "resources": {}, "rates": []}']::jsonb[])"#;
    for counts in ["select pgflow.sweep_jobs()", "select pgflow.clear_concern(array['x', 'raw'])"] {
        let db = Db::new().await;
        let low = "select pgflow.set_job_settings(crash_threshold => 1)";
        db.run(low).await;
        db.run(QUEUE).await;
        super::submit_with(&db, "x", "q", "max_attempts => array[4]").await;
        submit(&db, "q", &["raw"]).await;
        for _ in 0..2 {
            assert_eq!(claim(&db, &["q"], 2).await, ["x", "raw"]);
            lapse(&db, &["x", "raw"]).await;
        }
        assert_eq!(
            (&*status(&db, "x").await, &*status(&db, "raw").await),
            ("READY", "CRASH_CONCERN")
        );
        db.run(counts).await;
        assert_eq!(status(&db, "x").await, "READY", "{counts}");
        db.check().await;
        db.run(low).await;
        assert_eq!(status(&db, "x").await, "READY", "nor by a threshold that is set");
        // It was pushed first.
        assert_eq!(claim(&db, &["q"], 1).await, ["x"]);
        assert_eq!(settle(&db, "fail_jobs", "x", ", array['boom'], array[0]").await, "applied");
        assert_eq!(status(&db, "x").await, "READY", "nor by a failure");
        assert_eq!(claim(&db, &["q"], 1).await, ["x"]);
        lapse(&db, &["x"]).await;
        db.run("select pgflow.sweep_jobs(); select pgflow.sweep_jobs()").await;
        assert_eq!(status(&db, "x").await, "crashed");
    }
}

/// A lease that has run out unnoticed is forgotten with the rest, and not counted again.
#[tokio::test]
async fn clearing_counts_what_nobody_has_noticed() {
    let db = Db::new().await;
    db.run("select pgflow.set_job_settings(crash_threshold => 1)").await;
    submit(&db, "n", &["x"]).await;
    claim(&db, &["n"], 1).await;
    lapse(&db, &["x"]).await;
    claim(&db, &["n"], 1).await;
    lapse(&db, &["x"]).await;
    assert_eq!(status(&db, "x").await, "CRASH_CONCERN");
    db.run("select pgflow.clear_concern(array['x'])").await;
    assert_eq!(claim(&db, &["n"], 1).await, ["x"]);
    assert_eq!(live(&db).await, ["x:n:leased a3 l2"]);
    db.check().await;
}

#[tokio::test]
async fn another_threshold_counts_at_once() {
    let db = Db::new().await;
    super::submit_with(&db, "x", "n", "keys => array['k']").await;
    for _ in 0..3 {
        claim(&db, &["n"], 1).await;
        lapse(&db, &["x"]).await;
        db.run("select pgflow.sweep_jobs()").await;
    }
    for (threshold, expected) in
        [(2, "CRASH_CONCERN"), (3, "READY"), (1, "CRASH_CONCERN"), (9, "READY")]
    {
        db.run(&format!("select pgflow.set_job_settings(crash_threshold => {threshold})")).await;
        assert_eq!(status(&db, "x").await, expected, "{threshold}");
        db.check().await;
    }
    assert_eq!(claim(&db, &["n"], 1).await, ["x"]);
}

/// Nothing is handed out that is said to be aside.
#[tokio::test]
async fn another_threshold_counts_for_sleepers_and_for_what_comes_back() {
    let db = Db::new().await;
    submit(&db, "n", &["sleeps", "leased"]).await;
    for _ in 0..3 {
        claim(&db, &["n"], 2).await;
        lapse(&db, &["sleeps", "leased"]).await;
    }
    claim(&db, &["n"], 2).await;
    let more = ", array['boom'], array[3600000]";
    assert_eq!(settle(&db, "fail_jobs", "sleeps", more).await, "applied");
    db.run("select pgwf.set_crash_concern_threshold(2)").await;
    db.check().await;
    assert_eq!(settle(&db, "release_jobs", "leased", "").await, "applied");
    db.check().await;
    assert_eq!(status(&db, "leased").await, "CRASH_CONCERN");
    assert_eq!(status(&db, "sleeps").await, "AWAITING_FUTURE");
    let last = "select kind from pgflow.job_events where job = any (array['sleeps', 'leased']) order by trace_id desc limit 1";
    assert_eq!(db.one(last).await, "concern");
    db.run("update pgflow.jobs set wake_at = now() where id = 'sleeps'").await;
    assert_eq!(status(&db, "sleeps").await, "CRASH_CONCERN");
    assert_eq!(db.rows("select pgwf.get_work('w', array['n'], 60, 9)").await, [""; 0]);
    db.run("update pgflow.jobs set wake_at = now() + interval '1 hour' where id = 'sleeps'").await;
    db.run("select pgflow.set_job_settings(crash_threshold => 5)").await;
    assert_eq!(live(&db).await, ["sleeps:n:sleeping a4 f1 l3 s3", "leased:n:ready a3 l3 s3"]);
    db.check().await;
}
