//! Messages that nothing is done with, one by one and in batches, drained by one worker; and as many tasks of a map, for comparison.

use std::time::{Duration, Instant};

use pgflow::pipeline::{Batch, Pipeline, PipelineSpec, Queue};
use pgflow::{Db, Worker};

use super::Bench;
use super::crew::{self, Working};
use super::flows::pgflow_bench_map;
use super::latency::{LONGEST, WARM_UP, pause};
use super::reading::Reading;
use super::tally::Tally;
use crate::error::{BenchError, Result};

pub(super) const TASKS: &str = "map tasks";
pub(super) const PUSHED: &str = "push";
pub(super) const PROCESSED: &str = "process";
pub(super) const BEHIND: &str = "process behind a full resource";
pub(super) const BATCHED: &str = "batches of 100";
pub(super) const SCATTERED: &str = "batches of 10, keys scattered";
pub(super) const IDLE: &str = "push to handler";

/// Messages of a batch.
const LEN: u32 = 100;

/// Messages of a batch whose key is scattered.
const FEW: u32 = 10;

/// A queue for each number of messages: what is left of one would be in the way of the next.
const QUEUES: [&str; 3] = ["bench-keys-a", "bench-keys-b", "bench-keys-c"];

/// Messages and tasks before anything is measured.
const FIRST: u32 = 40;

/// A resource that the first of those in front holds.
const FULL: &str = "bench:full";

pub(super) async fn run(bench: &mut Bench<'_, '_>) -> Result<Vec<Reading>> {
    let (many, in_front) = (bench.sizes.jobs, bench.sizes.in_front);
    let db = bench.place.connect().await?;
    db.register(pgflow_bench_map::Flow).await?;
    start(&db, FIRST).await?;
    push(&db, &numbers(), FIRST).await?;
    drained(bench, &db, TASKS, 2 * FIRST, process).await?;

    start(&db, many).await?;
    let tasks = drained(bench, &db, TASKS, many, process).await?;
    let mark = bench.place.mark()?;
    push(&db, &numbers(), many).await?;
    let pushed = Reading::new(PUSHED, "message", many, bench.place.since(&mark)?);
    let processed = drained(bench, &db, PROCESSED, many, process).await?;
    db.resource(FULL).capacity(1).await?;
    push(&db, &mixed(in_front), in_front + many).await?;
    let behind = drained(bench, &db, BEHIND, many, |tally| behind(in_front, tally)).await?;
    push(&db, &grouped(), many).await?;
    let wait = Duration::from_millis(100);
    let hundreds = |tally| batch(&grouped(), LEN, wait, tally);
    let batched = drained(bench, &db, BATCHED, many, hundreds).await?;
    let mut readings = vec![tasks, pushed, processed, behind, batched];
    for (&queued, name) in bench.sizes.scattered.iter().zip(QUEUES) {
        let keys = bench.sizes.keys.min(queued / FEW);
        let queue = scattered(name, keys);
        push(&db, &queue, queued).await?;
        let pipeline = |tally| batch(&queue, FEW, Duration::from_hours(1), tally);
        let reading = drained(bench, &db, SCATTERED, many.min(queued), pipeline).await?;
        readings.push(reading.at(queued));
    }
    readings.push(latency(bench, &db).await?);
    db.prune_jobs(Duration::ZERO).await?;
    db.close().await?;
    Ok(readings)
}

fn numbers() -> Queue<u32> {
    Queue::named("bench-numbers")
}

/// With some in front that hold what there is one of.
fn mixed(in_front: u32) -> Queue<u32> {
    Queue::named("bench-mixed").resources(move |number| (*number < in_front).then_some((FULL, 1)))
}

fn grouped() -> Queue<u32> {
    Queue::named("bench-grouped")
}

/// So many keys, one after the other.
fn scattered(name: &'static str, keys: u32) -> Queue<u32> {
    Queue::named(name).batch_by(move |number| (number % keys).to_string())
}

async fn start(db: &Db, many: u32) -> Result<()> {
    let input = [(0..many).collect::<Vec<u32>>()];
    crew::start_all(db, pgflow_bench_map::Flow, &input).await
}

async fn push(db: &Db, queue: &Queue<u32>, many: u32) -> Result<()> {
    queue.push_all(db, &(0..many).collect::<Vec<_>>()).await?;
    Ok(())
}

fn process(tally: Tally) -> PipelineSpec {
    process_of(&numbers(), tally)
}

fn process_of(queue: &Queue<u32>, tally: Tally) -> PipelineSpec {
    let pipeline = Pipeline::new("bench-process", queue).process(move |number, _ctx| {
        let tally = tally.clone();
        async move {
            tally.last(tally.enter());
            Ok(number)
        }
    });
    pipeline.into()
}

/// The first of those in front keeps what the others of them want for as long as the worker is there.
fn behind(in_front: u32, tally: Tally) -> PipelineSpec {
    let pipeline = Pipeline::new("bench-behind", &mixed(in_front)).process(move |number, ctx| {
        let tally = tally.clone();
        async move {
            if number < in_front {
                ctx.cancelled().await;
            } else {
                tally.last(tally.enter());
            }
            Ok(number)
        }
    });
    pipeline.into()
}

fn batch(queue: &Queue<u32>, len: u32, wait: Duration, tally: Tally) -> PipelineSpec {
    let rule = Batch::len(len).wait(wait);
    let pipeline = Pipeline::new("bench-batch", queue).batch(rule, move |batch, _ctx| {
        for _ in 0..batch.len() {
            tally.last(None);
        }
        async move { Ok(batch.settle_all(|number| number)) }
    });
    pipeline.into()
}

/// What a worker does that asks for tasks and for these messages, until so many are done.
async fn drained(
    bench: &mut Bench<'_, '_>,
    db: &Db,
    phase: &'static str,
    many: u32,
    pipeline: impl FnOnce(Tally) -> PipelineSpec,
) -> Result<Reading> {
    let (tally, mark) = (Tally::of(many), bench.place.mark()?);
    let worker = Worker::new(db).flow(pgflow_bench_map::Flow).pipeline(pipeline(tally.clone()));
    let worker = worker.state(tally.clone()).concurrency(bench.concurrency).grace(Duration::ZERO);
    let done = crew::until_ended(Working::of(worker), &tally, bench.sizes.window).await?;
    let unit = if phase == TASKS { "task" } else { "message" };
    Ok(Reading::new(phase, unit, done, bench.place.since(&mark)?))
}

/// From `push()` to the function, with a worker that has nothing else to do.
async fn latency(bench: &mut Bench<'_, '_>, db: &Db) -> Result<Reading> {
    // Of its own: in the others, what a window cut off may be left.
    let (tally, queue) = (Tally::with_times(), Queue::named("bench-idle"));
    let pipeline = process_of(&queue, tally.clone());
    let worker = Worker::new(db).pipeline(pipeline).concurrency(bench.concurrency);
    let working = Working::of(worker);
    let mut times = Vec::new();
    for number in 0..WARM_UP + bench.sizes.latencies {
        pause(number).await;
        let began = Instant::now();
        queue.push(db, &number).await?;
        let calls = tokio::time::timeout(LONGEST, tally.calls(1)).await;
        times.push(calls.map_err(BenchError::Late)?[0].entered - began);
    }
    times.drain(..WARM_UP as usize);
    working.end().await?;
    Ok(Reading::of_times(IDLE, "message", &times))
}
