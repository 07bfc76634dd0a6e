//! Runs that come and go while others of the same flow are waited for: whoever waits looks together with all others.

use std::time::Duration;

use pgflow::Db;
use tokio::task::JoinSet;

use super::Bench;
use super::crew;
use super::flows::{Order, pgflow_bench_noop};
use super::reading::Reading;
use super::tally::Tally;
use crate::error::Result;

/// Those who wait, as an application with as many open requests has them: SQLite's looks take less.
const ON_A_SERVER: u32 = 300;
const ON_SQLITE: u32 = 1_500;
/// Runs that are worked on before anything is measured.
const WARM_UP: u32 = 40;

pub(super) const ALONE: &str = "nobody waits";
pub(super) const WAITED: &str = "many wait";

pub(super) async fn run(bench: &mut Bench<'_, '_>) -> Result<Vec<Reading>> {
    let db = bench.place.connect().await?;
    db.register(pgflow_bench_noop::Flow).await?;
    work(bench, &db, WARM_UP).await?;
    let runs = bench.sizes.noop_runs;
    let (alone, spent) = work(bench, &db, runs).await?;
    let alone = Reading::new(ALONE, "run", alone, spent);
    let waiters = if bench.place.name() == "sqlite" { ON_SQLITE } else { ON_A_SERVER };
    let mut waiting = JoinSet::new();
    for number in 0..waiters.min(runs) {
        // Long after this case is over.
        let later = db.start(pgflow_bench_noop::Flow, &Order::new(number, bench.seed));
        let run = later.delay(Duration::from_hours(1)).await?;
        waiting.spawn(async move { run.wait().await });
    }
    let (waited, spent) = work(bench, &db, runs).await?;
    waiting.shutdown().await;
    db.close().await?;
    Ok(vec![alone, Reading::new(WAITED, "run", waited, spent)])
}

/// Starts runs and drains them; how many, and what that took.
async fn work(bench: &mut Bench<'_, '_>, db: &Db, runs: u32) -> Result<(u32, super::place::Spent)> {
    let orders: Vec<_> = (0..runs).map(|n| Order::new(n, bench.seed)).collect();
    let mark = bench.place.mark()?;
    crew::start_all(db, pgflow_bench_noop::Flow, &orders).await?;
    let (tally, window) = (Tally::of(runs), bench.sizes.window);
    let done = crew::drain(db, pgflow_bench_noop::Flow, &tally, bench.concurrency, window).await?;
    Ok((done, bench.place.since(&mark)?))
}
