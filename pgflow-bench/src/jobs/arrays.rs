//! Our own functions: a call per batch.

use sqlx::PgConnection;

use super::{LEASE_SECONDS, LeasedJobs, NEED, WORKER};
use crate::error::{Doing, Result};

pub(super) async fn submit(conn: &mut PgConnection, ids: &[String]) -> Result<()> {
    let payloads = vec![serde_json::json!({"n": 1}); ids.len()];
    sqlx::query("select count(*) from pgflow.submit_jobs($1, $2, $3)")
        .bind(ids)
        .bind(vec![NEED; ids.len()])
        .bind(payloads)
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
    sqlx::query("select count(*) from pgflow.submit_jobs($1, $2, edge_jobs => array_fill(1, array[cardinality($3)]), dependencies => $3)")
        .bind([id])
        .bind([NEED])
        .bind(dependencies)
        .execute(conn)
        .await
        .doing("submitting a job that waits")?;
    Ok(())
}

pub(super) async fn claim(conn: &mut PgConnection, limit: i32) -> Result<LeasedJobs> {
    let rows = sqlx::query_as("select id, token from pgflow.claim_jobs($1, $2, $3, $4)")
        .bind(WORKER)
        .bind([NEED])
        .bind(LEASE_SECONDS)
        .bind(limit)
        .fetch_all(conn)
        .await
        .doing("claiming jobs")?;
    Ok(LeasedJobs::of(rows))
}

pub(super) async fn finish(conn: &mut PgConnection, held: &LeasedJobs) -> Result<i64> {
    sqlx::query_scalar("select count(*) from pgflow.finish_jobs($1, $2) where outcome = 'applied'")
        .bind(&held.ids)
        .bind(&held.tokens)
        .fetch_one(conn)
        .await
        .doing("finishing jobs")
}
