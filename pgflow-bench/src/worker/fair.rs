//! A small run behind a wide map: how long it takes, and what being fair to it costs.
//!
//! The map is drained alone, small runs are worked on alone, and then both beside each other. What that takes
//! more than one after the other is the price of fairness.

use std::time::{Duration, Instant};

use pgflow::{Db, Worker};

use super::Bench;
use super::crew::Working;
use super::flows::{Order, Small, pgflow_bench_map, pgflow_bench_small};
use super::reading::Reading;
use super::tally::Tally;
use crate::error::{BenchError, Result};

/// Small runs that are not counted: connections are opened and statements planned.
const WARM_UP: u32 = 5;
/// A small run that takes longer does not end.
const LONGEST: Duration = Duration::from_mins(2);

pub(super) const IDLE: &str = "small run, idle";
pub(super) const BEHIND: &str = "small run, behind a map";
pub(super) const ALONE: &str = "map alone";
pub(super) const SMALL: &str = "small runs alone";
pub(super) const BOTH: &str = "both";

pub(super) async fn run(bench: &mut Bench<'_, '_>) -> Result<Vec<Reading>> {
    // Wide enough to be in the way.
    let widths = bench.sizes.map_widths.iter().copied();
    let width = widths.filter(|width| *width <= 10_000).max().unwrap_or(1);
    let db = bench.place.connect().await?;
    db.register(pgflow_bench_map::Flow).await?;
    db.register(pgflow_bench_small::Flow).await?;
    let small = Small(Tally::with_times());
    let mut readings = Vec::new();

    // Alone: the worker has nothing else to do.
    let working = begin(&db, &Tally::of(1), &small, bench.concurrency);
    let mut times = Vec::new();
    let mut mark = bench.place.mark()?;
    for number in 0..WARM_UP + bench.sizes.latencies {
        if number == WARM_UP {
            mark = bench.place.mark()?;
        }
        times.push(small_run(&db, &small, Order::new(number, bench.seed)).await?);
    }
    let spent = bench.place.since(&mark)?;
    times.drain(..WARM_UP as usize);
    readings.push(Reading::of_times(IDLE, "run", &times));
    readings.push(Reading::new(SMALL, "run", bench.sizes.latencies, spent));
    working.end().await?;

    for is_alone in [true, false] {
        db.start(pgflow_bench_map::Flow, &(0..width).collect()).await?;
        let tally = Tally::of(width);
        let mark = bench.place.mark()?;
        let working = begin(&db, &tally, &small, bench.concurrency);
        let mut times = Vec::new();
        while !is_alone && tally.left() > 0 {
            let number = u32::try_from(times.len()).unwrap_or(u32::MAX);
            times.push(small_run(&db, &small, Order::new(number, bench.seed)).await?);
        }
        tokio::time::timeout(bench.sizes.window * 10, tally.all_ended())
            .await
            .map_err(BenchError::Late)?;
        let spent = bench.place.since(&mark)?;
        working.end().await?;
        let phase = if is_alone { ALONE } else { BOTH };
        readings.push(Reading::new(phase, "task", width, spent));
        if !is_alone {
            readings.push(Reading::of_times(BEHIND, "run", &times));
        }
    }
    db.close().await?;
    Ok(readings)
}

/// Starts a run of three steps; until its last handler.
async fn small_run(db: &Db, small: &Small, order: Order) -> Result<Duration> {
    let began = Instant::now();
    db.start(pgflow_bench_small::Flow, &order).await?;
    let calls = tokio::time::timeout(LONGEST, small.0.calls(3)).await.map_err(BenchError::Late)?;
    Ok(calls[2].entered - began)
}

/// A worker for both flows.
fn begin(db: &Db, tally: &Tally, small: &Small, concurrency: usize) -> Working {
    let worker = Worker::new(db).flow(pgflow_bench_map::Flow).flow(pgflow_bench_small::Flow);
    Working::of(worker.state(tally.clone()).state(small.clone()).concurrency(concurrency))
}
