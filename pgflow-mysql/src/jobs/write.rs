//! What commands decided about jobs, written with a few statements.

use std::ops::DerefMut;

use pgflow_machine::job::{JobId, JobRows, JobWrites};
use serde::Serialize;
use sqlx::MySqlConnection;

use super::load::On;
use super::names::Name;
use super::rows::{Edge, HeldKey, Lease, Traced, ended, jobs};
use super::statements::{
    ARCHIVE, DELETE, EDGES, FORGET, FREE, FREED, HOLD, INSERT, LEASE, OVER, RESTORE, TRACE,
    UNLEASE, UPDATE,
};
use crate::error::Result;
use crate::session::MySqlSession;

/// Executes a statement for rows, in as many parts as packets have room for.
pub(super) async fn execute<C: DerefMut<Target = MySqlConnection>, T: Serialize>(
    session: &mut MySqlSession<C>,
    sql: &'static str,
    rows: &[T],
) -> Result<()> {
    for part in session.json_parts(rows)? {
        let mut query = sqlx::query(sql);
        if sql == ARCHIVE || sql == TRACE {
            query = query.bind(session.now.micros());
        }
        query.bind(part).execute(session.connection()).await?;
    }
    Ok(())
}

pub(crate) async fn write<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    rows: &JobRows,
    writes: JobWrites<'_>,
) -> Result<()> {
    execute(session, INSERT, &jobs(rows, &writes, &writes.inserted)?).await?;
    execute(session, RESTORE, &jobs(rows, &writes, &writes.restored)?).await?;
    execute(session, FORGET, &named(&writes.restored)).await?;
    execute(session, UPDATE, &jobs(rows, &writes, &writes.updated)?).await?;
    leases(session, rows, &writes).await?;
    execute(session, OVER, &writes.over.iter().map(On::from).collect::<Vec<_>>()).await?;
    execute(session, FREED, &named(&writes.freed)).await?;
    let edges: Vec<_> = writes.edges.iter().map(Edge::from).collect();

    execute(session, EDGES, &edges).await?;
    archive(session, rows, &writes).await?;
    keys(session, rows, &writes).await?;
    let trace: Vec<_> = writes.trace.iter().map(Traced::from).collect();
    execute(session, TRACE, &trace).await
}

fn named<'w>(ids: impl IntoIterator<Item = &'w JobId>) -> Vec<Name<'w>> {
    ids.into_iter().map(Name::from).collect()
}

async fn leases<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    rows: &JobRows,
    writes: &JobWrites<'_>,
) -> Result<()> {
    let (mut held, mut gone) = (Vec::new(), Vec::new());
    for id in &writes.leases {
        match rows.row(id).and_then(|row| row.lease.as_ref()) {
            None => gone.push(Name::from(id)),
            Some(lease) => held.push(Lease {
                id: id.into(),
                token: &lease.token.0,
                until: lease.until,
                worker: &lease.worker,
            }),
        }
    }
    execute(session, UNLEASE, &gone).await?;
    execute(session, LEASE, &held).await
}

async fn archive<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    rows: &JobRows,
    writes: &JobWrites<'_>,
) -> Result<()> {
    execute(session, ARCHIVE, &ended(rows, writes)?).await?;
    execute(session, DELETE, &named(writes.archived.iter().map(|ended| &ended.id))).await
}

/// Keys that have a holder now; rows of those that have none go, also if they were only there to be locked.
async fn keys<C: DerefMut<Target = MySqlConnection>>(
    session: &mut MySqlSession<C>,
    rows: &JobRows,
    writes: &JobWrites<'_>,
) -> Result<()> {
    let held = writes.keys.iter().filter_map(|key| {
        let holder = rows.keys.get(key)?.as_ref()?;
        Some(HeldKey { name: Name(key), holder: Name::from(holder) })
    });
    execute(session, HOLD, &held.collect::<Vec<_>>()).await?;
    let mut free: Vec<_> =
        rows.keys.iter().filter(|(_, holder)| holder.is_none()).map(|(key, _)| key).collect();
    free.sort_unstable();
    let free: Vec<_> = free.into_iter().map(|key| Name(key)).collect();
    execute(session, FREE, &free).await
}
