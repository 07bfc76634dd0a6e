//! The status views.

use super::{lapse, lease, status, submit};
use crate::harness::Db;

#[tokio::test]
async fn the_first_status_that_fits_is_shown() {
    let db = Db::new().await;
    submit(&db, "n", &["active"]).await;
    let token = lease(&db, "n", "active").await;
    db.run("select pgwf.submit_job('future', 'w', 'n', '{active}', '{}', null, timestamptz '2100-01-01', now() - interval '1 day')").await;
    db.run("select pgwf.submit_job('pending', 'w', 'n', '{active}', p_expires_at => now() - interval '1 day')").await;
    db.run("select pgwf.submit_job('expired', 'w', 'n', p_expires_at => now() - interval '1 day')")
        .await;
    submit(&db, "n", &["ready"]).await;
    let friendly = "select job_id, status, pending_jobs, sleep_until = timestamptz '2100-01-01', worker_id, cancelled_by
        from pgwf.jobs_friendly_status order by creation_dt";
    assert_eq!(
        db.rows(friendly).await,
        [
            format!("active|ACTIVE|NULL|NULL|{token}|NULL"),
            "future|AWAITING_FUTURE|NULL|t|NULL|NULL".into(),
            "pending|PENDING_JOBS|{active}|NULL|NULL|NULL".into(),
            "expired|EXPIRED|NULL|NULL|NULL|NULL".into(),
            "ready|READY|NULL|NULL|NULL|NULL".into(),
        ]
    );
    assert_eq!(
        db.rows("select job_id from pgwf.get_work('w', array['n'], 60, 9)").await,
        ["ready"]
    );
    assert_eq!(status(&db, "expired").await, "EXPIRED");
    db.run("select pgwf.reschedule_unheld_job('expired', 'w', 'm')").await;
    assert_eq!(status(&db, "expired").await, "EXPIRED");
    assert_eq!(db.one("select pgwf.complete_unheld_job('expired', 'w')").await, "t");
    db.check().await;
}

/// A threshold of n means n + 1 leases in a row.
#[tokio::test]
async fn crash_concern_comes_after_one_lease_more_than_the_threshold() {
    let db = Db::new().await;
    db.run("select pgwf.set_crash_concern_threshold(2)").await;
    submit(&db, "n", &["x"]).await;
    let counters = "select lease_expiration_count, consecutive_expirations from pgwf.jobs";
    for count in 0..3 {
        lease(&db, "n", "x").await;
        assert_eq!(db.one(counters).await, format!("{count}|{count}"));
        lapse(&db, "x").await;
        assert_eq!(status(&db, "x").await, if count < 2 { "READY" } else { "CRASH_CONCERN" });
    }
    assert_eq!(db.rows("select job_id from pgwf.get_work('w', array['n'])").await, [""; 0]);
    assert_eq!(status(&db, "x").await, "CRASH_CONCERN");
    for (threshold, expected) in [(9, "READY"), (1, "CRASH_CONCERN")] {
        db.run(&format!("select pgwf.set_crash_concern_threshold({threshold})")).await;
        assert_eq!(status(&db, "x").await, expected);
    }
    assert_eq!(db.one("select pgwf.clear_crash_concern('x', 'ops', 'fixed')").await, "t");
    assert_eq!(status(&db, "x").await, "READY");
    lease(&db, "n", "x").await;
    assert_eq!(db.one(counters).await, "3|0", "a lapse is counted once");
    db.check().await;
}

#[tokio::test]
async fn a_job_in_concern_is_helped_by_hand() {
    let db = Db::new().await;
    db.run("select pgwf.set_crash_concern_threshold(1)").await;
    submit(&db, "n", &["x", "y"]).await;
    for id in ["x", "y"] {
        for _ in 0..2 {
            lease(&db, "n", id).await;
            lapse(&db, id).await;
        }
        db.rows("select pgwf.get_work('w', array['nothing'])").await;
    }
    db.run("select pgwf.reschedule_unheld_job('x', 'ops', 'm')").await;
    assert_eq!(status(&db, "x").await, "READY");
    assert_eq!(db.one("select pgwf.complete_unheld_job('y', 'ops')").await, "t");
    db.check().await;
}
