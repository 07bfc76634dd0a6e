//! Steps that wait: from the signal, or the end of a sleep, to the handler of the next step.

use std::time::{Duration, Instant};

use pgflow::Run;
use tokio::time::timeout;

use super::Bench;
use super::crew::Working;
use super::flows::{Order, pgflow_bench_signal, pgflow_bench_sleep};
use super::latency::{LONGEST, WARM_UP, pause};
use super::reading::Reading;
use super::tally::Tally;
use crate::error::{BenchError, Result};

/// How long steps sleep.
const NAP: Duration = Duration::from_millis(300);

/// Signals that are sent in the worker's own process, and over connections of another.
pub(super) async fn signal(bench: &mut Bench<'_, '_>) -> Result<Vec<Reading>> {
    let db = bench.place.connect().await?;
    let elsewhere = bench.place.connect().await?;
    db.register(pgflow_bench_signal::Flow).await?;
    let tally = Tally::with_times();
    let working = Working::begin(&db, pgflow_bench_signal::Flow, &tally, bench.concurrency);
    let mut readings = Vec::new();
    for (phase, sender) in [("same process", &db), ("another process", &elsewhere)] {
        let mut times = Vec::new();
        for number in 0..WARM_UP + bench.sizes.latencies {
            let run = db.start(pgflow_bench_signal::Flow, &Order::new(number, bench.seed)).await?;
            timeout(LONGEST, until_it_waits(&run)).await.map_err(BenchError::Late)??;
            pause(number).await;
            let began = Instant::now();
            sender.signal_step::<pgflow_bench_signal::answer>(run.id(), &number).await?;
            let calls = timeout(LONGEST, tally.calls(1)).await.map_err(BenchError::Late)?;
            times.push(calls[0].entered - began);
        }
        times.drain(..WARM_UP as usize);
        readings.push(Reading::of_times(phase, "signal", &times));
    }
    working.end().await?;
    elsewhere.close().await?;
    db.close().await?;
    Ok(readings)
}

async fn until_it_waits(run: &Run<pgflow_bench_signal::Flow>) -> Result<()> {
    while run.hooks().await?.is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(())
}

/// Counted from the end of the handler that sleeps: its settle is part of it.
pub(super) async fn sleep(bench: &mut Bench<'_, '_>) -> Result<Vec<Reading>> {
    let db = bench.place.connect().await?;
    db.register(pgflow_bench_sleep::Flow).await?;
    let tally = Tally::with_times();
    let working = Working::begin(&db, pgflow_bench_sleep::Flow, &tally, bench.concurrency);
    let nap = u64::try_from(NAP.as_millis()).unwrap_or(u64::MAX);
    let mut times = Vec::new();
    for number in 0..WARM_UP + bench.sizes.latencies {
        pause(number).await;
        db.start(pgflow_bench_sleep::Flow, nap).await?;
        let calls = timeout(LONGEST, tally.calls(2)).await.map_err(BenchError::Late)?;
        times.push((calls[1].entered - calls[0].left).saturating_sub(NAP));
    }
    times.drain(..WARM_UP as usize);
    working.end().await?;
    db.close().await?;
    Ok(vec![Reading::of_times("late", "sleep", &times)])
}
