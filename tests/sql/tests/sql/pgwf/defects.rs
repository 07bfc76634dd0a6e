//! Defects of the published implementation that are not here.

use std::sync::Arc;

use tokio::sync::Barrier;

use super::{lease, submit};
use crate::harness::Db;

/// There it locks everything that it could ever serve.
#[tokio::test]
async fn an_open_get_work_holds_up_nobody() {
    let db = Db::new().await;
    submit(&db, "n", &["1", "2", "3"]).await;
    let token = lease(&db, "n", "1").await;
    let mut open = db.session().await;
    assert_eq!(open.rows("begin; select job_id from pgwf.get_work('o', array['n'])").await, ["2"]);
    let mut other = db.session().await;
    other.run("set lock_timeout = '2s'").await;
    other.run(&format!("select pgwf.extend_lease('1', '{token}', 'w')")).await;
    assert_eq!(other.rows("select job_id from pgwf.get_work('w', array['n'])").await, ["3"]);
    other.run(&format!("select pgwf.complete_job('1', '{token}', 'w')")).await;
    open.run("commit").await;
    db.check().await;
}

/// There 183 of 300 wait for ever.
#[tokio::test]
async fn no_wake_up_is_lost() {
    const PAIRS: usize = 300;
    let db = Db::new().await;
    db.run(&format!(
        "select pgwf.submit_job('d' || i, 'w', 'd') from generate_series(0, {}) i",
        PAIRS - 1
    ))
    .await;
    db.run(&format!(
        "create table public.lease as select * from pgwf.get_work('w', array['d'], 600, {PAIRS})"
    ))
    .await;
    let barrier = Arc::new(Barrier::new(2));
    let mut sessions = Vec::new();
    for completes in [true, false] {
        let (mut session, barrier) = (db.session().await, Arc::clone(&barrier));
        sessions.push(tokio::spawn(async move {
            for i in 0..PAIRS {
                barrier.wait().await;
                let statement = if completes {
                    format!("select pgwf.complete_job('d{i}', (select lease_id from public.lease where job_id = 'd{i}'), 'w')")
                } else {
                    format!("select pgwf.submit_job('w{i}', 'w', 'n', array['d{i}'])")
                };
                session.run(&statement).await;
            }
        }));
    }
    for session in sessions {
        session.await.expect("nobody is refused");
    }
    assert_eq!(
        db.rows("select status, count(*) from pgwf.jobs_with_status group by 1").await,
        [format!("READY|{PAIRS}")]
    );
    db.check().await;
}

/// There one batch, or two calls for different needs, get several.
#[tokio::test]
async fn one_key_is_leased_once_in_a_batch_and_across_needs() {
    let db = Db::new().await;
    db.run("select pgwf.submit_job('j' || i, 'w', 'n' || i % 2, p_singleton_key => 'k') from generate_series(1, 4) i").await;
    let mut open = db.session().await;
    assert_eq!(
        open.rows("begin; select job_id from pgwf.get_work('o', array['n1'], 60, 10)").await,
        ["j1"]
    );
    assert_eq!(
        db.rows("select job_id from pgwf.get_work('w', array['n0', 'n1'], 60, 10)").await,
        [""; 0]
    );
    open.run("commit").await;
    assert_eq!(
        db.rows("select job_id from pgwf.get_work('w', array['n0', 'n1'], 60, 10)").await,
        [""; 0]
    );
    db.check().await;
}

/// There it is a master key.
#[tokio::test]
async fn a_null_lease_opens_nothing() {
    let db = Db::new().await;
    submit(&db, "n", &["free", "leased"]).await;
    db.run("select pgwf.reschedule_unheld_job('leased', 'w', 'm')").await;
    lease(&db, "m", "leased").await;
    for id in ["free", "leased"] {
        for call in [
            "complete_job('ID', null, 'w')",
            "extend_lease('ID', null, 'w')",
            "reschedule_job('ID', null, 'w', 'n')",
        ] {
            let call = call.replace("ID", id);
            assert_eq!(db.error(&format!("select pgwf.{call}")).await.code, "P0001", "{call}");
        }
    }
    db.check().await;
}

/// There expired jobs hold up those who wait for them for ever, and a queue that nobody polls never shows a crash.
#[tokio::test]
async fn the_sweep_ends_what_expired_and_counts_what_lapsed() {
    let db = Db::new().await;
    db.run("select pgwf.submit_job('expired', 'w', 'n', p_expires_at => now() - interval '1 day'); select pgwf.submit_job('waits', 'w', 'n', '{expired}')").await;
    submit(&db, "m", &["lapses"]).await;
    lease(&db, "m", "lapses").await;
    super::lapse(&db, "lapses").await;
    db.run("select pgflow.sweep_jobs()").await;
    assert_eq!(super::status(&db, "waits").await, "READY");
    assert_eq!(
        db.one("select lease_expiration_count from pgwf.jobs where job_id = 'lapses'").await,
        "1"
    );
    db.check().await;
}

/// There a job may wait for itself.
#[tokio::test]
async fn a_ring_is_refused() {
    let db = Db::new().await;
    submit(&db, "n", &["x"]).await;
    let token = lease(&db, "n", "x").await;
    let call = format!("select pgwf.reschedule_job('x', '{token}', 'w', 'n', '{{x}}')");
    assert!(db.error(&call).await.detail.expect("a problem").contains("ring"));
    assert_eq!(super::status(&db, "x").await, "ACTIVE");
}
