//! What owners do to the views by hand, as suites of the published tables do.

use super::{lease, status, submit};
use crate::harness::Db;

async fn statuses(db: &Db) -> Vec<String> {
    db.rows("select job_id || ':' || status from pgwf.jobs_with_status order by job_id").await
}

#[tokio::test]
async fn moments_are_moved() {
    let db = Db::new().await;
    submit(&db, "n", &["a", "b"]).await;
    for id in ["k1", "k2"] {
        db.run(&format!("select pgwf.submit_job('{id}', 'w', 'k', p_singleton_key => 'k')")).await;
    }
    lease(&db, "n", "a").await;
    let run_out = "update pgwf.jobs set lease_expires_at = clock_timestamp() - interval '1 hour' where job_id = 'a'
        returning lease_expires_at < clock_timestamp()";
    assert_eq!(db.rows(run_out).await, ["t"]);
    db.check().await;
    lease(&db, "n", "a").await;
    assert_eq!(
        db.one("select lease_expiration_count from pgwf.jobs where job_id = 'a'").await,
        "1"
    );
    let later = "available_at = clock_timestamp() + interval '1 hour'";
    db.run(&format!("update pgwf.jobs set {later} where job_id in ('b', 'k1')")).await;
    assert_eq!(
        statuses(&db).await,
        ["a:ACTIVE", "b:AWAITING_FUTURE", "k1:AWAITING_FUTURE", "k2:READY"]
    );
    db.check().await;
    lease(&db, "k", "k2").await;
    db.run("update pgwf.jobs set available_at = clock_timestamp()").await;
    db.check().await;
    assert_eq!(status(&db, "b").await, "READY");
    db.run("update pgwf.jobs set expires_at = clock_timestamp() where job_id = 'b'").await;
    assert_eq!(db.rows("select job_id from pgwf.get_work('w', array['n', 'k'])").await, [""; 0]);
    db.run("update pgwf.jobs set expires_at = 'infinity' where job_id = 'b'").await;
    lease(&db, "n", "b").await;
    db.check().await;
}

#[tokio::test]
async fn streaks_and_cancellations_are_set_and_taken_back() {
    let db = Db::new().await;
    db.run("select pgwf.submit_job('a', 'w', 'n', p_singleton_key => 'k'); select pgwf.submit_job('b', 'w', 'n', p_singleton_key => 'k')").await;
    db.run("update pgwf.jobs set consecutive_expirations = 5 where job_id = 'a'").await;
    assert_eq!(statuses(&db).await, ["a:CRASH_CONCERN", "b:READY"]);
    db.check().await;
    db.run("update pgwf.jobs set consecutive_expirations = 0 where job_id = 'a'").await;
    db.run("update pgwf.jobs set cancel_requested = true, cancel_requested_by = 'me' where job_id = 'b'").await;
    assert_eq!(statuses(&db).await, ["a:READY", "b:CANCELLED"]);
    db.check().await;
    db.run("update pgwf.jobs set cancel_requested = false where job_id = 'b'").await;
    for id in ["a", "b"] {
        let token = lease(&db, "n", id).await;
        db.run(&format!("select pgwf.complete_job('{id}', '{token}', 'w')")).await;
    }
    db.check().await;
}

/// With their edges, keys and traces.
#[tokio::test]
async fn rows_are_deleted() {
    let db = Db::new().await;
    db.run("select pgwf.submit_job('first', 'w', 'n', p_singleton_key => 'k'); select pgwf.submit_job('second', 'w', 'n', p_singleton_key => 'k')").await;
    db.run("select pgwf.submit_job('waits', 'w', 'm', array['first', 'second']); select pgwf.submit_job('last', 'w', 'm', array['waits'])").await;
    lease(&db, "n", "first").await;
    db.run("delete from pgwf.jobs where job_id in ('first', 'waits')").await;
    assert_eq!(statuses(&db).await, ["last:READY", "second:READY"]);
    db.check().await;
    let token = lease(&db, "n", "second").await;
    db.run(&format!("select pgwf.complete_job('second', '{token}', 'w')")).await;
    db.run("delete from pgwf.jobs_trace where job_id = 'second' and event_type = 'job_retrieved'")
        .await;
    assert_eq!(
        db.rows("select event_type from pgwf.jobs_trace where job_id = 'second' order by trace_id")
            .await,
        ["job_submitted", "job_finished"]
    );
    db.run("delete from pgwf.jobs_archive; delete from pgwf.jobs").await;
    for table in ["jobs", "job_archive", "job_edges", "job_keys", "job_trace"] {
        assert_eq!(db.one(&format!("select count(*) from pgflow.{table}")).await, "0", "{table}");
    }
    submit(&db, "n", &["second"]).await;
    db.check().await;
}

#[tokio::test]
async fn what_cannot_be_done_right_is_refused() {
    let db = Db::new().await;
    submit(&db, "n", &["x"]).await;
    for statement in [
        "insert into pgwf.jobs (job_id, next_need) values ('y', 'n')",
        "insert into pgwf.jobs_archive (job_id, next_need) values ('y', 'n')",
        "update pgwf.jobs set next_need = 'm'",
        "update pgwf.jobs set singleton_key = 'k'",
        "update pgwf.jobs set wait_for = '{y}'",
        "update pgwf.jobs set lease_expires_at = clock_timestamp()",
        "update pgwf.jobs_trace set worker_id = 'me'",
    ] {
        assert_eq!(db.error(statement).await.code, "0A000", "{statement}");
    }
    assert_eq!(statuses(&db).await, ["x:READY"]);
    db.check().await;
}

/// Between two tests; views cannot be truncated.
#[tokio::test]
async fn a_database_is_emptied_of_jobs() {
    let db = Db::new().await;
    submit(&db, "n", &["a", "b"]).await;
    db.run("select pgwf.submit_job('c', 'w', 'n', array['a'], p_singleton_key => 'k'); select pgwf.complete_unheld_job('b', 'ops')").await;
    db.run("select pgflow.reset_jobs()").await;
    let left = "select (select count(*) from pgwf.jobs) + (select count(*) from pgwf.jobs_archive) + (select count(*) from pgwf.jobs_trace)";
    assert_eq!(db.one(left).await, "0");
    submit(&db, "n", &["a", "b"]).await;
    db.run("alter sequence pgwf.jobs_trace_id_seq restart").await;
    assert_eq!(db.one("select nextval('pgwf.jobs_trace_id_seq')").await, "1");
    db.check().await;
}
