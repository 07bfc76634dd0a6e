//! Every error with its exact text and SQLSTATE; nothing is changed by any of them.

use super::{lapse, lease, submit};
use crate::harness::Db;

async fn refuses(db: &Db, call: &str, code: &str, text: &str) {
    let failure = db.error(&format!("select pgwf.{call}")).await;
    assert_eq!(failure.to_string(), format!("{code} {text}"), "{call}");
}

#[tokio::test]
async fn submissions() {
    let db = Db::new().await;
    submit(&db, "n", &["live", "over"]).await;
    db.run("select pgwf.complete_unheld_job('over', 'w')").await;
    let fits = "select pgwf.submit_job('fits', 'w', 'n', '{}', jsonb_build_object('data', repeat('x', 492)))";
    db.run(fits).await;
    for (call, code, text) in [
        (
            "submit_job('over', 'w', 'n', '{unknown}')",
            "P0001",
            "job_id over has already completed and cannot be resubmitted",
        ),
        (
            "submit_job('x', 'w', 'n', array['a', 'live', 'over', 'b c'])",
            "P0001",
            "wait_for references unknown jobs: {a,\"b c\"}",
        ),
        ("submit_job('x', 'w', 'n', '{x}')", "P0001", "wait_for references unknown jobs: {x}"),
        ("submit_job('x', 'w', 'n', '{}', '[]'::jsonb)", "P0001", "payload must be a JSON object"),
        (
            "submit_job('x', 'w', 'n', '{}', 'null'::jsonb)",
            "P0001",
            "payload must be a JSON object",
        ),
        (
            "submit_job('x', 'w', 'n', '{}', jsonb_build_object('data', repeat('x', 493)))",
            "P0001",
            "payload exceeds 512 bytes",
        ),
        (
            "submit_job('live', 'w', 'n')",
            "23505",
            "duplicate key value violates unique constraint \"jobs_pkey\"",
        ),
        (
            "submit_job(null, 'w', 'n')",
            "23502",
            "null value in column \"job_id\" of relation \"jobs\" violates not-null constraint",
        ),
        (
            "submit_job('x', 'w', null)",
            "23502",
            "null value in column \"next_need\" of relation \"jobs\" violates not-null constraint",
        ),
        (
            "submit_job('x', null, 'n')",
            "23502",
            "null value in column \"worker_id\" of relation \"jobs_trace\" violates not-null constraint",
        ),
        ("normalize_wait_for('{zz}')", "P0001", "wait_for references unknown jobs: {zz}"),
    ] {
        refuses(&db, call, code, text).await;
    }
    let failure = db.error("select pgwf.submit_job('live', 'w', 'n')").await;
    assert_eq!(failure.constraint.as_deref(), Some("jobs_pkey"));
    // Also when nothing is traced.
    db.run("select pgwf.set_trace(false)").await;
    assert_eq!(db.error("select pgwf.submit_job('x', null, 'n')").await.code, "23502");
    assert_eq!(
        db.one("select string_agg(job_id, ',' order by job_id) from pgwf.jobs").await,
        "fits,live"
    );
    assert_eq!(
        db.one("select pgwf.normalize_wait_for(array['live', null, 'over', 'live'])").await,
        "{live,live}"
    );
    assert_eq!(
        db.one("select pgwf.normalize_wait_for(null), pgwf.normalize_wait_for('{}')").await,
        "{}|{}"
    );
    db.check().await;
}

#[tokio::test]
async fn leases() {
    let db = Db::new().await;
    submit(&db, "n", &["x", "lapsed", "free"]).await;
    let token = lease(&db, "n", "x").await;
    let old = lease(&db, "n", "lapsed").await;
    lapse(&db, "lapsed").await;
    for (call, text) in [
        ("get_work('w', null)", "worker_caps cannot be empty"),
        ("get_work('w', '{}')", "worker_caps cannot be empty"),
        ("get_work('w', array['n'], 0)", "lease_seconds must be positive"),
        ("get_work('w', array['n'], null)", "lease_seconds must be positive"),
        ("get_work('w', array['n'], 60, 0)", "limit_jobs must be positive"),
        ("get_work('w', array['n'], 60, null)", "limit_jobs must be positive"),
        ("extend_lease(null, 'x', 'w', 0)", "additional_seconds must be positive"),
        ("extend_lease('x', 'x', 'w', null)", "additional_seconds must be positive"),
        ("extend_lease(null, 'x', 'w')", "job_id cannot be NULL"),
        ("extend_lease('zz', 'x', 'w')", "active lease not found for job zz"),
        ("extend_lease('x', 'other', 'w')", "active lease not found for job x"),
        ("extend_lease('x', null, 'w')", "active lease not found for job x"),
        ("extend_lease('free', null, 'w')", "active lease not found for job free"),
        ("complete_job(null, 'x', 'w')", "job_id cannot be NULL"),
        ("complete_job('zz', 'x', 'w')", "job zz is not actively leased by x"),
        ("complete_job('x', null, 'w')", "job x is not actively leased by <NULL>"),
        ("complete_job('free', null, 'w')", "job free is not actively leased by <NULL>"),
        ("reschedule_job(null, 'x', 'w', 'n')", "job_id cannot be NULL"),
        (
            "reschedule_job('x', 'other', 'w', 'n')",
            "job x is not currently leased with lease other",
        ),
        ("reschedule_job('x', null, 'w', 'n')", "job x is not currently leased with lease <NULL>"),
    ] {
        refuses(&db, call, "P0001", text).await;
    }
    for (call, text) in [
        (
            format!("extend_lease('lapsed', '{old}', 'w')"),
            "active lease not found for job lapsed".to_owned(),
        ),
        (
            format!("complete_job('lapsed', '{old}', 'w')"),
            format!("job lapsed is not actively leased by {old}"),
        ),
        (
            format!("reschedule_job('lapsed', '{old}', 'w', 'n')"),
            format!("job lapsed is not currently leased with lease {old}"),
        ),
        (
            format!("reschedule_job('x', '{token}', 'w', 'n', '{{zz}}')"),
            "wait_for references unknown jobs: {zz}".into(),
        ),
        (
            format!("reschedule_job('x', '{token}', 'w', 'n', p_payload => '[]')"),
            "payload must be a JSON object".into(),
        ),
        (
            format!(
                "reschedule_job('x', '{token}', 'w', 'n', p_payload => jsonb_build_object('data', repeat('x', 493)))"
            ),
            "payload exceeds 512 bytes".into(),
        ),
    ] {
        refuses(&db, &call, "P0001", &text).await;
    }
    for call in [
        format!("reschedule_job('x', '{token}', 'w', null)"),
        format!("reschedule_job('x', '{token}', null, 'n')"),
        format!("extend_lease('x', '{token}', null)"),
        format!("complete_job('x', '{token}', null)"),
        "get_work(null, array['n'])".into(),
        "complete_unheld_job('free', null)".into(),
        "reschedule_unheld_job('free', null, 'n')".into(),
    ] {
        assert_eq!(db.error(&format!("select pgwf.{call}")).await.code, "23502", "{call}");
    }
    // Its name, and nothing behind it.
    db.run("select pgwf.cancel_job('x', 'ops')").await;
    refuses(
        &db,
        &format!("extend_lease('x', '{token}', 'w')"),
        "P0001",
        "job x is cancelled and cannot extend the lease",
    )
    .await;
    refuses(
        &db,
        &format!("reschedule_job('x', '{token}', 'w', 'n')"),
        "P0001",
        "job x is cancelled and cannot be rescheduled",
    )
    .await;
    db.check().await;
}

#[tokio::test]
async fn what_operators_do() {
    let db = Db::new().await;
    submit(&db, "n", &["leased", "over", "cancelled", "free"]).await;
    lease(&db, "n", "leased").await;
    db.run(
        "select pgwf.complete_unheld_job('over', 'w'); select pgwf.cancel_job('cancelled', 'w')",
    )
    .await;
    db.run("select pgwf.submit_job('sleeps', 'w', 'n', p_available_at => 'infinity'); select pgwf.submit_job('waits', 'w', 'n', '{leased}')").await;
    for id in ["leased", "over", "cancelled", "sleeps", "waits", "zz"] {
        refuses(
            &db,
            &format!("reschedule_unheld_job('{id}', 'w', 'm')"),
            "P0001",
            &format!("job {id} is not available to reschedule"),
        )
        .await;
        refuses(
            &db,
            &format!("complete_unheld_job('{id}', 'w')"),
            "P0001",
            &format!("job {id} is not available to complete"),
        )
        .await;
    }
    for (call, text) in [
        ("cancel_job(null, 'w')", "job_id cannot be NULL"),
        ("cancel_job('free', null)", "worker_id cannot be NULL"),
        ("cancel_job('over', 'w')", "job_id over has already completed and cannot be cancelled"),
        ("cancel_job('zz', 'w')", "job_id zz does not exist"),
        ("archive_cancelled_jobs(null)", "worker_id cannot be NULL"),
        ("archive_cancelled_jobs('w', 0)", "limit must be positive"),
        ("archive_cancelled_jobs('w', null)", "limit must be positive"),
        ("clear_crash_concern(null, 'w')", "job_id cannot be NULL"),
        ("clear_crash_concern('free', null)", "worker_id cannot be NULL"),
        (
            "clear_crash_concern('over', 'w')",
            "job_id over has already been archived and cannot clear crash concern",
        ),
        ("clear_crash_concern('zz', 'w')", "job_id zz does not exist"),
        (
            "clear_crash_concern('cancelled', 'w')",
            "job cancelled is cancelled and cannot clear crash concern",
        ),
        ("complete_unheld_job(null, 'w')", "job_id cannot be NULL"),
        ("reschedule_unheld_job(null, 'w', 'n')", "job_id cannot be NULL"),
        ("set_trace(null)", "enabled flag cannot be NULL"),
        ("set_notify(null)", "enabled flag cannot be NULL"),
        ("set_crash_concern_threshold(null)", "threshold must be positive"),
        ("set_crash_concern_threshold(0)", "threshold must be positive"),
    ] {
        refuses(&db, call, "P0001", text).await;
    }
    db.check().await;
}
