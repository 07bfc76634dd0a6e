//! Which versions are there, and what waits on each.

use std::time::Duration;

use sqlx::SqliteConnection;

use super::Sqlite;
use super::definitions::{Session, Version};
use super::error::Result;
use crate::backend::KnownVersion;

/// Reads open runs only, so it costs the same after a million others.
pub(super) const OPEN: &str = "
    select count(distinct r.id), coalesce(sum(s.remaining_tasks), 0), min(s.started_at)
      from pgflow_runs r
      left join pgflow_steps s on s.id >= r.id << 16 and s.id < (r.id + 1) << 16 and s.status = 'started'
     where r.flow = ? and r.status = 'started'";

pub(super) async fn versions(sqlite: &Sqlite, flows: &[&str]) -> Result<Vec<KnownVersion>> {
    let mut tx = sqlite.connections.read().await?;
    let session = sqlite.memory.session(&mut tx).await?;
    let mut known = Vec::new();
    if flows.is_empty() {
        return Ok(known);
    }
    for version in session.definitions.of(flows) {
        known.push(look(&mut tx, &session, version).await?);
    }
    Ok(known)
}

async fn look(
    connection: &mut SqliteConnection,
    session: &Session,
    version: &Version,
) -> Result<KnownVersion> {
    let (open_runs, open_tasks, oldest): (i64, i64, Option<i64>) =
        sqlx::query_as(OPEN).bind(version.id).fetch_one(connection).await?;
    let age =
        |at: i64| Duration::from_micros(session.now.saturating_sub(at).try_into().unwrap_or(0));
    Ok(KnownVersion {
        flow: version.name.clone(),
        version: version.number,
        slug: version.slug().to_string(),
        is_current: session.definitions.newest(&version.name)?.id == version.id,
        open_runs: open_runs.unsigned_abs(),
        open_tasks: open_tasks.unsigned_abs(),
        oldest: oldest.map(age),
    })
}
