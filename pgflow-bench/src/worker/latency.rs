//! How long things take one at a time, with a worker that has nothing else to do.

use std::time::{Duration, Instant};

use pgflow::Db;

use super::Bench;
use super::crew::Working;
use super::flows::{Order, pgflow_bench_chain, pgflow_bench_noop};
use super::reading::Reading;
use super::tally::Tally;
use crate::error::{BenchError, Result};

/// Longer than any of the pauses that a busy worker makes, so that each start meets an idle one.
const IDLE: Duration = Duration::from_millis(60);
/// A handler that has not come by then does not come.
pub(super) const LONGEST: Duration = Duration::from_secs(20);
/// Not counted: connections are opened and statements planned.
pub(super) const WARM_UP: u32 = 5;

/// From `start()` to the handler: started in the worker's own process, and over connections of another.
pub(super) async fn start(bench: &mut Bench<'_, '_>) -> Result<Vec<Reading>> {
    let db = bench.place.connect().await?;
    let elsewhere = bench.place.connect().await?;
    db.register(pgflow_bench_noop::Flow).await?;
    let tally = Tally::with_times();
    let working = Working::begin(&db, pgflow_bench_noop::Flow, &tally, bench.concurrency);
    let mut readings = Vec::new();
    for (phase, starter) in [("same process", &db), ("another process", &elsewhere)] {
        let mut times = Vec::new();
        for number in 0..WARM_UP + bench.sizes.latencies {
            times.push(start_one(starter, &tally, Order::new(number, bench.seed)).await?);
        }
        times.drain(..WARM_UP as usize);
        readings.push(Reading::of_times(phase, "start", &times));
    }
    working.end().await?;
    elsewhere.close().await?;
    db.close().await?;
    Ok(readings)
}

async fn start_one(db: &Db, tally: &Tally, order: Order) -> Result<Duration> {
    pause(order.number).await;
    let began = Instant::now();
    db.start(pgflow_bench_noop::Flow, &order).await?;
    let calls = tokio::time::timeout(LONGEST, tally.calls(1)).await.map_err(BenchError::Late)?;
    Ok(calls[0].entered - began)
}

/// From the end of a handler to the next one of the same run.
pub(super) async fn step(bench: &mut Bench<'_, '_>) -> Result<Vec<Reading>> {
    let db = bench.place.connect().await?;
    db.register(pgflow_bench_chain::Flow).await?;
    let tally = Tally::with_times();
    let working = Working::begin(&db, pgflow_bench_chain::Flow, &tally, bench.concurrency);
    let mut times = Vec::new();
    for number in 0..WARM_UP + bench.sizes.latencies {
        pause(number).await;
        db.start(pgflow_bench_chain::Flow, &Order::new(number, bench.seed)).await?;
        let calls =
            tokio::time::timeout(LONGEST, tally.calls(3)).await.map_err(BenchError::Late)?;
        times.extend(calls.windows(2).map(|pair| pair[1].entered - pair[0].left));
    }
    times.drain(..2 * WARM_UP as usize);
    working.end().await?;
    db.close().await?;
    Ok(vec![Reading::of_times("end to next handler", "step", &times)])
}

/// Not always the same, so that no timer of ours runs in step with it.
pub(super) async fn pause(number: u32) {
    tokio::time::sleep(IDLE + Duration::from_millis(u64::from(number * 7 % 20))).await;
}
