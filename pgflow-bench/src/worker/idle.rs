//! A worker that has nothing to do.

use super::Bench;
use super::crew::Working;
use super::flows::pgflow_bench_noop;
use super::reading::Reading;
use super::tally::Tally;
use crate::error::Result;

/// The server's own housekeeping counts as well, and comes in bursts: the quietest window has none of it.
const WINDOWS: u32 = 3;

/// Transactions per second of all connections, and CPU per second.
pub(super) async fn run(bench: &mut Bench<'_, '_>) -> Result<Vec<Reading>> {
    let db = bench.place.connect().await?;
    db.register(pgflow_bench_noop::Flow).await?;
    let tally = Tally::with_times();
    let working = Working::begin(&db, pgflow_bench_noop::Flow, &tally, bench.concurrency);
    tokio::time::sleep(bench.sizes.settle_down).await;
    let mut windows = Vec::new();
    for _ in 0..WINDOWS {
        windows.push(window(bench).await?);
    }
    working.end().await?;
    db.close().await?;
    Ok(windows.into_iter().min_by_key(|reading| reading.items).into_iter().collect())
}

async fn window(bench: &mut Bench<'_, '_>) -> Result<Reading> {
    let before = bench.place.transactions().await?;
    let mark = bench.place.mark()?;
    tokio::time::sleep(bench.sizes.idle).await;
    let spent = bench.place.since(&mark)?;
    let after = bench.place.transactions().await?;
    // One of them is the question before.
    let count = before.zip(after).map(|(before, after)| (after - before - 1).max(0));
    let count = u32::try_from(count.unwrap_or(0)).unwrap_or(u32::MAX);
    Ok(Reading::new("idle", "transaction", count, spent))
}
