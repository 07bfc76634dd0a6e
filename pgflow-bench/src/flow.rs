//! The flows that are measured, and runs of them.

use serde_json::{Value, json};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::error::{Doing, Result};

/// Long enough that no task becomes visible again while a case holds it.
const TIMEOUT_S: i32 = 7200;

/// One step without dependencies.
pub(crate) async fn single(conn: &mut PgConnection, slug: &str) -> Result<()> {
    create(conn, slug).await?;
    add(conn, slug, "work", &[], "single").await
}

/// `first`, then `left` and `right`, then `last`.
pub(crate) async fn diamond(conn: &mut PgConnection, slug: &str) -> Result<()> {
    create(conn, slug).await?;
    add(conn, slug, "first", &[], "single").await?;
    add(conn, slug, "left", &["first"], "single").await?;
    add(conn, slug, "right", &["first"], "single").await?;
    add(conn, slug, "last", &["left", "right"], "single").await
}

/// One task per element of the input.
pub(crate) async fn map(conn: &mut PgConnection, slug: &str) -> Result<()> {
    create(conn, slug).await?;
    add(conn, slug, "each", &[], "map").await
}

/// The same, and a step that takes all outputs.
pub(crate) async fn map_and_sum(conn: &mut PgConnection, slug: &str) -> Result<()> {
    map(conn, slug).await?;
    add(conn, slug, "sum", &["each"], "single").await
}

/// Tasks of a diamond that become ready together, per run.
pub(crate) const DIAMOND_WAVES: [u32; 3] = [1, 2, 1];

/// Tasks of a diamond.
pub(crate) const DIAMOND_TASKS: u32 = 4;

/// The input of a map: objects, stored out of line as real arrays are, yet so small that 100,000
/// of them stay within the core's default limit of 4 MiB.
pub(crate) fn elements(width: u32, seed: u64) -> Value {
    (0..width).map(|index| json!({"id": seed.wrapping_add(u64::from(index))})).collect()
}

/// The input of a run without a map.
pub(crate) fn input(number: u32, seed: u64) -> Value {
    json!({"number": number, "seed": seed, "url": "https://example.com/some/page"})
}

pub(crate) async fn start(conn: &mut PgConnection, slug: &str, input: &Value) -> Result<Uuid> {
    sqlx::query_scalar("select run_id from pgflow.start_flow(flow_slug => $1, input => $2)")
        .bind(slug)
        .bind(input)
        .fetch_one(conn)
        .await
        .doing(format!("starting a run of `{slug}`"))
}

/// Starts runs in one transaction, as a client does with starts that come together.
pub(crate) async fn start_many(
    conn: &mut PgConnection,
    slug: &str,
    inputs: &[Value],
) -> Result<()> {
    let ids: Vec<Uuid> = inputs.iter().map(|_| Uuid::now_v7()).collect();
    sqlx::query(
        "select s.run_id from unnest($2::jsonb[], $3::uuid[]) u(input, id) cross join lateral pgflow.start_run($1, u.input, u.id) s",
    )
    .bind(slug)
    .bind(inputs)
    .bind(ids)
    .execute(conn)
    .await
    .doing(format!("starting runs of `{slug}`"))?;
    Ok(())
}

async fn create(conn: &mut PgConnection, slug: &str) -> Result<()> {
    sqlx::query("select pgflow.create_flow($1, timeout => $2)")
        .bind(slug)
        .bind(TIMEOUT_S)
        .execute(conn)
        .await
        .doing(format!("creating the flow `{slug}`"))?;
    Ok(())
}

async fn add(
    conn: &mut PgConnection,
    flow: &str,
    step: &str,
    deps: &[&str],
    step_type: &str,
) -> Result<()> {
    sqlx::query("select pgflow.add_step($1, $2, $3, step_type => $4)")
        .bind(flow)
        .bind(step)
        .bind(deps)
        .bind(step_type)
        .execute(conn)
        .await
        .doing(format!("adding the step `{step}`"))?;
    Ok(())
}
