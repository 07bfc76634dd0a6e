//! Submits, leases and finishes jobs: in arrays through `pgflow.*_jobs`, or through `pgwf.*`, which takes them one by one.

mod arrays;
mod names;
mod pgwf;

use sqlx::PgConnection;

use crate::args::Protocol;
use crate::error::Result;

pub(crate) use names::Names;

/// What all jobs of the benchmark need.
const NEED: &str = "bench.job";
const WORKER: &str = "bench";
const LEASE_SECONDS: i32 = 600;

/// Leased jobs that wait for their end.
#[derive(Debug, Default)]
pub(crate) struct LeasedJobs {
    ids: Vec<String>,
    tokens: Vec<String>,
}

impl LeasedJobs {
    pub(crate) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    fn of(rows: Vec<(String, String)>) -> Self {
        let (ids, tokens) = rows.into_iter().unzip();
        Self { ids, tokens }
    }
}

/// All of them in one transaction.
pub(crate) async fn submit(by: Protocol, conn: &mut PgConnection, ids: &[String]) -> Result<()> {
    match by {
        Protocol::Batched => arrays::submit(conn, ids).await,
        Protocol::Published => pgwf::submit(conn, ids).await,
    }
}

/// One that waits for others.
pub(crate) async fn submit_after(
    by: Protocol,
    conn: &mut PgConnection,
    id: &str,
    dependencies: &[String],
) -> Result<()> {
    match by {
        Protocol::Batched => arrays::submit_after(conn, id, dependencies).await,
        Protocol::Published => pgwf::submit_after(conn, id, dependencies).await,
    }
}

pub(crate) async fn claim(by: Protocol, conn: &mut PgConnection, limit: u32) -> Result<LeasedJobs> {
    let limit = i32::try_from(limit).unwrap_or(i32::MAX);
    match by {
        Protocol::Batched => arrays::claim(conn, limit).await,
        Protocol::Published => pgwf::claim(conn, limit).await,
    }
}

/// All of them in one transaction; returns how many that were.
pub(crate) async fn finish(
    by: Protocol,
    conn: &mut PgConnection,
    held: &LeasedJobs,
) -> Result<u32> {
    let finished = match by {
        Protocol::Batched => arrays::finish(conn, held).await,
        Protocol::Published => pgwf::finish(conn, held).await,
    }?;
    Ok(u32::try_from(finished).unwrap_or(0))
}
