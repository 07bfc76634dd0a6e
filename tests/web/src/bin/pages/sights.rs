//! What is worth looking at besides many runs: a run of 200 steps, a wide map, steps that wait, schedules.

use pgflow::prelude::*;
use pgflow::{Db, RunId, Worker};
use pgflow_machine::job::{JobClaim, JobSettle, JobVerdict};
use pgflow_machine::{FlowVersion, Settle, Source, Verdict, WorkerId};
use pgflow_model::{FlowShape, StepShape};
use pgflow_runtime::backend::{Claim, WaitQuery};
use pgflow_web_tests::{Order, Outcome, Tools, orders};
use pgflow_worker_tests::Working;
use serde_json::{Value, json};

/// Steps of the deep run, in layers of so many.
const STEPS: usize = 200;
const LAYER: usize = 10;
/// Tasks that are claimed, and settled, at once.
const BATCH: u32 = 1_000;

/// Runs with something to see, by what they have.
pub(crate) struct Sights {
    /// A graph of seven steps and a map of 1,000.
    pub(crate) orders: RunId,
    /// 200 steps, all completed.
    pub(crate) deep: RunId,
    /// A wide map, completed.
    pub(crate) wide: RunId,
    /// A wide map that goes on: half of it is done.
    pub(crate) open: RunId,
}

/// Makes all of it.
pub(crate) async fn sights(db: &Db, tasks: u32, others: u32) -> Outcome<Sights> {
    let wide = define(db, "wide", wide_steps()).await?;
    let deep = define(db, "deep", deep_steps()).await?;
    let input: Value = (0..tasks).map(|n| json!({ "line": n })).collect();
    let ids = [start(db, &wide, input.clone()).await?, start(db, &deep, json!(1)).await?];
    finish(db, &wide, u32::MAX).await?;
    finish(db, &deep, u32::MAX).await?;
    let open = start(db, &wide, input).await?;
    finish(db, &wide, tasks / 2).await?;
    waiting(db, others).await?;
    scheduled(db, others).await?;
    traced(db, tasks / 10).await?;
    Ok(Sights { orders: ordered(db).await?, deep: ids[1], wide: ids[0], open })
}

fn wide_steps() -> Vec<StepShape> {
    vec![StepShape::new("each").map(), StepShape::new("last").after("each")]
}

/// Each step depends on two of the layer above it.
fn deep_steps() -> Vec<StepShape> {
    let above = |step: usize, side: usize| {
        let layer = step / LAYER - 1;
        format!("step_{}", layer * LAYER + (step + side * 3) % LAYER)
    };
    let step = |number: usize| {
        let step = StepShape::new(format!("step_{number}"));
        if number < LAYER { step } else { step.after(above(number, 0)).after(above(number, 1)) }
    };
    (0..STEPS).map(step).collect()
}

async fn define(db: &Db, slug: &str, steps: Vec<StepShape>) -> Outcome<String> {
    let shape = FlowShape { steps, ..FlowShape::new(slug) };
    let version = FlowVersion { flow: slug.into(), version: 1, slug: slug.into(), shape };
    db.backend().ensure_flow(&version).await?;
    Ok(slug.to_owned())
}

async fn start(db: &Db, flow: &str, input: Value) -> Outcome<RunId> {
    Ok(db.start_by_name(flow, input, None).await?.0)
}

/// Settles tasks of a flow, as a worker would, until there are none or so many are done.
async fn finish(db: &Db, flow: &str, most: u32) -> Outcome {
    let (wants, worker) = (vec![Source::queue(flow).into()], WorkerId::new());
    let mut done = 0;
    while done < most {
        let claim = Claim { wants: wants.clone(), max: BATCH.min(most - done), worker };
        let tasks = db.backend().claim(&claim).await?.tasks;
        if tasks.is_empty() {
            return Ok(());
        }
        done += u32::try_from(tasks.len())?;
        let settle = |task: pgflow_runtime::backend::ClaimedTask| Settle {
            lease: task.lease.into(),
            verdict: Verdict::Completed(json!({ "is_done": true })),
        };
        let settles: Vec<_> = tasks.into_iter().map(settle).collect();
        db.backend().settle(&settles, None).await?;
    }
    Ok(())
}

/// One with a graph and a map.
async fn ordered(db: &Db) -> Outcome<RunId> {
    let worker = Worker::new(db).flow(orders::Flow).state(Tools::default()).concurrency(64);
    let worker = Working::start(worker);
    let run = db.start(orders::Flow, &Order::of(1_000)).await?;
    run.wait().await?;
    worker.stop().await?;
    Ok(run.id())
}

/// A step that waits for an answer.
#[flow(input = u32)]
mod approval {
    use super::{Hook, Result, Waiting};

    #[step(wait_timeout = "7d")]
    async fn asked(hook: Hook<u32>) -> Result<Waiting<u32>> {
        Ok(hook.wait())
    }
}

async fn waiting(db: &Db, runs: u32) -> Outcome {
    db.register(approval::Flow).await?;
    let worker = Working::start(Worker::new(db).flow(approval::Flow).concurrency(64));
    for run in 0..runs {
        db.start(approval::Flow, run).await?;
    }
    let query = WaitQuery { max: runs, ..WaitQuery::default() };
    while db.waits(&query).await?.len() < query.max as usize {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    worker.stop().await?;
    Ok(())
}

async fn scheduled(db: &Db, schedules: u32) -> Outcome {
    for number in 0..schedules {
        let (name, cron) = (format!("nightly-{number}"), format!("{} 3 * * *", number % 60));
        db.schedule(&name).flow_by_name("deep", json!(1)).cron(&cron).await?;
    }
    Ok(())
}

/// A job that many workers gave back, one after the other.
async fn traced(db: &Db, lines: u32) -> Outcome {
    db.submit_raw("given.back", json!(1)).id("traced").await?;
    let jobs = db.backend().jobs()?;
    let (needs, lease) = (vec!["given.back".to_owned()], std::time::Duration::from_mins(1));
    let claim = JobClaim { worker: "worker".to_owned(), needs, lease, max: 1 };
    // Each time it is taken, and given back.
    for _ in 0..lines / 2 {
        let Some(job) = jobs.claim_jobs(&claim).await?.jobs.pop() else { continue };
        let settle = JobSettle::new(job.taken.hold.clone(), JobVerdict::Released);
        jobs.settle_jobs(&[settle], "worker").await?;
    }
    Ok(())
}
