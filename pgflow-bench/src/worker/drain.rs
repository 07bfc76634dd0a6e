//! Runs that are started in bulk and then drained by one worker.

use pgflow::{Flow, RunStatus, client::RunQuery};

use super::Bench;
use super::crew;
use super::flows::{
    Order, pgflow_bench_chain, pgflow_bench_diamond, pgflow_bench_map, pgflow_bench_noop,
};
use super::reading::Reading;
use super::tally::Tally;
use crate::error::{BenchError, Result};

/// Runs that are worked on before anything is measured, so that all statements are planned.
const WARM_UP: u32 = 40;

pub(super) async fn noop(bench: &mut Bench<'_, '_>) -> Result<Vec<Reading>> {
    let runs = bench.sizes.noop_runs;
    runs_of(bench, pgflow_bench_noop::Flow, runs, "job").await
}

pub(super) async fn chain(bench: &mut Bench<'_, '_>) -> Result<Vec<Reading>> {
    let runs = bench.sizes.chain_runs;
    runs_of(bench, pgflow_bench_chain::Flow, runs, "run").await
}

pub(super) async fn diamond(bench: &mut Bench<'_, '_>) -> Result<Vec<Reading>> {
    let runs = bench.sizes.diamond_runs;
    runs_of(bench, pgflow_bench_diamond::Flow, runs, "run").await
}

pub(super) async fn map(bench: &mut Bench<'_, '_>) -> Result<Vec<Reading>> {
    let mut readings = Vec::new();
    for &width in bench.sizes.map_widths {
        let warm_up = [(0..WARM_UP).collect::<Vec<u32>>()];
        let input = [(0..width).collect::<Vec<u32>>()];
        let work =
            Work { warm_up: &warm_up, inputs: &input, lasts: [WARM_UP, width], unit: "task" };
        let [start, drain, _] = measure(bench, pgflow_bench_map::Flow, work).await?;
        readings.push(Reading { unit: "run", items: 1, ..start }.at(width));
        readings.push(drain.at(width));
    }
    Ok(readings)
}

async fn runs_of<F: Flow<Input = Order> + Copy>(
    bench: &mut Bench<'_, '_>,
    flow: F,
    runs: u32,
    unit: &'static str,
) -> Result<Vec<Reading>> {
    let orders = |count| (0..count).map(|n| Order::new(n, bench.seed)).collect::<Vec<_>>();
    let (warm_up, inputs) = (orders(WARM_UP), orders(runs));
    let work = Work { warm_up: &warm_up, inputs: &inputs, lasts: [WARM_UP, runs], unit };
    Ok(measure(bench, flow, work).await?.into())
}

/// What is to be worked on.
struct Work<'a, I> {
    warm_up: &'a [I],
    inputs: &'a [I],
    /// Last steps of the warm-up and of what is measured.
    lasts: [u32; 2],
    unit: &'static str,
}

/// Readings for starting, for draining, and for both.
async fn measure<F: Flow + Copy>(
    bench: &mut Bench<'_, '_>,
    flow: F,
    work: Work<'_, F::Input>,
) -> Result<[Reading; 3]> {
    let (window, concurrency) = (bench.sizes.window, bench.concurrency);
    let db = bench.place.connect().await?;
    db.register(flow).await?;
    crew::start_all(&db, flow, work.warm_up).await?;
    crew::drain(&db, flow, &Tally::of(work.lasts[0]), concurrency, window).await?;
    let mark = bench.place.mark()?;
    crew::start_all(&db, flow, work.inputs).await?;
    let started = bench.place.since(&mark)?;
    let mark = bench.place.mark()?;
    let done = crew::drain(&db, flow, &Tally::of(work.lasts[1]), concurrency, window).await?;
    let drained = bench.place.since(&mark)?;
    if done == work.lasts[1] {
        check(&db, F::SLUG).await?;
    }
    db.close().await?;
    let both = started.scaled(f64::from(done) / f64::from(work.lasts[1])).plus(drained);
    let all = work.lasts[1];
    Ok([
        Reading::new("start", work.unit, all, started),
        Reading::new("drain", work.unit, done, drained),
        Reading::new("start and drain", work.unit, done, both),
    ])
}

/// All runs must have completed.
async fn check(db: &pgflow::Db, flow: &str) -> Result<()> {
    let statuses = vec![RunStatus::Started, RunStatus::Failed, RunStatus::Cancelled];
    let query = RunQuery { flows: vec![flow.to_owned()], statuses, max: 1, ..RunQuery::default() };
    match db.list(&query).await?.runs.first() {
        None => Ok(()),
        Some(run) => {
            let problem = format!("run {} is {:?}", run.id, run.status);
            Err(BenchError::Unsound { target: db.to_string(), case: flow.to_owned(), problem })
        }
    }
}
