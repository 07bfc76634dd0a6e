//! Jobs that do nothing, drained by one worker; and as many tasks of a map, for comparison.

use std::time::Duration;

use pgflow::backend::NeedDepth;
use pgflow::{Db, Worker};

use super::Bench;
use super::crew::{self, Working};
use super::flows::{pgflow_bench_jobs, pgflow_bench_map};
use super::reading::Reading;
use super::tally::Tally;
use crate::error::{BenchError, Result};

pub(super) const TASKS: &str = "map tasks";
pub(super) const JOBS: &str = "jobs";

/// Jobs that are worked on before anything is measured.
const WARM_UP: u32 = 40;

/// Jobs that one call submits.
const BATCH: usize = 500;

pub(super) async fn run(bench: &mut Bench<'_, '_>) -> Result<Vec<Reading>> {
    let many = bench.sizes.jobs;
    let db = bench.place.connect().await?;
    db.register(pgflow_bench_map::Flow).await?;
    start(&db, WARM_UP).await?;
    drain(bench, &db, WARM_UP).await?;
    submit(&db, WARM_UP).await?;
    drain(bench, &db, WARM_UP).await?;

    start(&db, many).await?;
    let mark = bench.place.mark()?;
    let done = drain(bench, &db, many).await?;
    let tasks = Reading::new(TASKS, "task", done, bench.place.since(&mark)?);

    let mark = bench.place.mark()?;
    submit(&db, many).await?;
    let submitted = Reading::new("submit", "job", many, bench.place.since(&mark)?);
    let mark = bench.place.mark()?;
    let done = drain(bench, &db, many).await?;
    let jobs = Reading::new(JOBS, "job", done, bench.place.since(&mark)?);
    check(&db, done == many).await?;
    db.close().await?;
    Ok(vec![tasks, submitted, jobs])
}

async fn start(db: &Db, many: u32) -> Result<()> {
    let input = [(0..many).collect::<Vec<u32>>()];
    crew::start_all(db, pgflow_bench_map::Flow, &input).await
}

async fn submit(db: &Db, many: u32) -> Result<()> {
    let payloads: Vec<_> = (0..many).collect();
    for part in payloads.chunks(BATCH) {
        db.submit_all::<pgflow_bench_jobs::noop>(part.to_vec()).await?;
    }
    Ok(())
}

/// The same worker for both: it asks for tasks and for jobs.
async fn drain(bench: &Bench<'_, '_>, db: &Db, many: u32) -> Result<u32> {
    let tally = Tally::of(many);
    let worker = Worker::new(db).flow(pgflow_bench_map::Flow).job(pgflow_bench_jobs::Job);
    let worker = worker.state(tally.clone()).concurrency(bench.concurrency);
    crew::until_ended(Working::of(worker), &tally, bench.sizes.window).await
}

/// All jobs must be done, and leave nothing behind.
async fn check(db: &Db, is_whole: bool) -> Result<()> {
    let live: u64 = db.job_depths().await?.needs.iter().map(NeedDepth::live).sum();
    db.prune_jobs(Duration::ZERO).await?;
    if is_whole && live > 0 {
        let problem = format!("{live} jobs are not done");
        let (target, case) = (db.to_string(), "worker-jobs".to_owned());
        return Err(BenchError::Unsound { target, case, problem });
    }
    Ok(())
}
