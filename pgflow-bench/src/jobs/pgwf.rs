//! The published functions: a call per job, a statement per batch.

use sqlx::PgConnection;

use super::{LEASE_SECONDS, LeasedJobs, NEED, WORKER};
use crate::error::{Doing, Result};

pub(super) async fn submit(conn: &mut PgConnection, ids: &[String]) -> Result<()> {
    let submit = "select count(*) from unnest($1) i(id) cross join lateral pgwf.submit_job(i.id, $2, $3, '{}', '{\"n\": 1}'::jsonb)";
    sqlx::query(submit)
        .bind(ids)
        .bind(WORKER)
        .bind(NEED)
        .execute(conn)
        .await
        .doing("submitting jobs")?;
    Ok(())
}

pub(super) async fn submit_after(
    conn: &mut PgConnection,
    id: &str,
    dependencies: &[String],
) -> Result<()> {
    sqlx::query("select job_id from pgwf.submit_job($1, $2, $3, $4)")
        .bind(id)
        .bind(WORKER)
        .bind(NEED)
        .bind(dependencies)
        .execute(conn)
        .await
        .doing("submitting a job that waits")?;
    Ok(())
}

pub(super) async fn claim(conn: &mut PgConnection, limit: i32) -> Result<LeasedJobs> {
    let rows = sqlx::query_as("select job_id, lease_id from pgwf.get_work($1, $2, $3, $4)")
        .bind(WORKER)
        .bind([NEED])
        .bind(LEASE_SECONDS)
        .bind(limit)
        .fetch_all(conn)
        .await
        .doing("getting work")?;
    Ok(LeasedJobs::of(rows))
}

pub(super) async fn finish(conn: &mut PgConnection, held: &LeasedJobs) -> Result<i64> {
    let finish =
        "select count(pgwf.complete_job(i.id, i.lease, $3)) from unnest($1, $2) i(id, lease)";
    sqlx::query_scalar(finish)
        .bind(&held.ids)
        .bind(&held.tokens)
        .bind(WORKER)
        .fetch_one(conn)
        .await
        .doing("completing jobs")
}
