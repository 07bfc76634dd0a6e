//! What a worker looks at before it takes its first task.

use std::sync::Arc;

use pgflow_machine::WorkerId;
use tokio::sync::mpsc::unbounded_channel;
use tokio::time::Instant;

use super::ahead::Ahead;
use super::attempt::Attempts;
use super::builder::Worker;
use super::concurrency;
use super::engine::Engine;
use super::handler::{Handler, Handlers};
use super::home::Home;
use super::leases::Leases;
use super::lost_claim::LostClaim;
use super::pace::Pace;
use super::report::WorkerReport;
use super::running::RunningAttempts;
use super::settles::Settles;
use super::shutdown::Stage;
use super::slots::Slots;
use super::sweep::Sweeps;
use super::ticks::Ticks;
use super::trouble::{Call, LogLimit, Trouble};
use super::{WorkerError, metrics};
use crate::FlowDef;
use crate::backend::{Backend, BackendError, Reply, Source, Wakes, WorkerCard};
use crate::db::Db;
use crate::db::environment::variable;
use crate::flow_handler::Flows;
use crate::job_handler::Kinds;
use crate::pipeline::Pipelines;
use crate::schedule::{self, Ticker};

/// A worker that is ready to work, or why it should not.
pub(super) async fn start(worker: Worker, home: Home, wakes: Wakes) -> Result<Engine, WorkerError> {
    let Worker { db, flows, jobs, pipelines, concurrency, grace, health, .. } = worker;
    metrics::describe();
    let backend = db.backend().clone();
    let slots = slots(concurrency::find(concurrency, variable)?)?;
    let defs = flows.defs();
    let handlers = handlers(flows, jobs, pipelines, &backend).await?;
    let ticker = ticker(&db, defs).await?;
    let sources = handlers.sources();
    resume(backend.as_ref(), &sources).await?;
    let id = sign_on(backend.as_ref(), &sources, slots.free()).await?;
    let (sender, done) = unbounded_channel();
    let attempts = Attempts { home, done: sender };
    let now = Instant::now();
    let ticks = Ticks::new(ticker, backend.schedules().is_ok(), now);
    Ok(Engine {
        id,
        backend,
        handlers,
        attempts,
        wakes,
        done,
        slots,
        running: RunningAttempts::default(),
        leases: Leases::default(),
        ahead: Ahead::default(),
        settles: Settles::default(),
        in_flight: 0,
        is_asking: false,
        lost_claim: LostClaim::default(),
        pace: Pace::new(now),
        sweeps: Sweeps::new(now),
        ticks,
        trouble: Trouble::new(),
        refusals: LogLimit::default(),
        stage: Stage::Working,
        grace,
        looked: now,
        report: WorkerReport::default(),
        health,
    })
}

/// Those of the kinds of work that there are. Without any, the flows say what is missing.
async fn handlers(
    flows: Flows,
    jobs: Kinds,
    pipelines: Pipelines,
    backend: &Arc<dyn Backend>,
) -> Result<Handlers, WorkerError> {
    let mut all: Vec<Box<dyn Handler>> = Vec::new();
    if !flows.is_empty() || (jobs.is_empty() && pipelines.is_empty()) {
        all.push(Box::new(flows.start(Arc::clone(backend)).await?));
    }
    if !jobs.is_empty() {
        all.push(Box::new(jobs.start(Arc::clone(backend)).await?));
    }
    if !pipelines.is_empty() {
        all.push(Box::new(pipelines.start(Arc::clone(backend)).await?));
    }
    Ok(Handlers::new(all))
}

/// Keeps the schedules that flows declare in the database, and knows how to start what is due.
async fn ticker(db: &Db, flows: Vec<&'static FlowDef>) -> Result<Ticker, WorkerError> {
    if db.backend().schedules().is_ok() {
        let why = |error| WorkerError::Schedules(Box::new(error));
        schedule::register(db, &flows).await.map_err(why)?;
    }
    Ok(Ticker::new(flows))
}

/// Says who is about to work, for people who look at what workers there are.
async fn sign_on(
    backend: &dyn Backend,
    sources: &[Source],
    slots: usize,
) -> Result<WorkerId, WorkerError> {
    let card = WorkerCard {
        id: WorkerId::new(),
        host: host(),
        pid: std::process::id(),
        queues: WorkerCard::queues_of(sources),
        slots: u32::try_from(slots).unwrap_or(u32::MAX),
    };
    persistently(|| backend.sign_on(&card)).await?;
    Ok(card.id)
}

/// The machine's name, as containers have it in their environment and Linux in a file.
fn host() -> Option<String> {
    let variable = std::env::var("HOSTNAME").ok().filter(|name| !name.is_empty());
    let file = || std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    variable.or_else(file).map(|name| name.trim().to_owned())
}

/// What others could not read may be readable here.
async fn resume(backend: &dyn Backend, sources: &[Source]) -> Result<(), WorkerError> {
    let resumed = persistently(|| backend.resume(sources)).await?;
    if resumed > 0 {
        tracing::info!(resumed, "trying tasks again that were held back");
    }
    Ok(())
}

fn slots(concurrency: usize) -> Result<Slots, WorkerError> {
    if concurrency == 0 {
        return Err(WorkerError::Zero { what: "concurrency".to_owned() });
    }
    Ok(Slots::new(concurrency))
}

/// The answer to a question that a worker can't start without.
pub(crate) async fn persistently<'a, T>(
    mut call: impl FnMut() -> Reply<'a, T>,
) -> Result<T, BackendError> {
    let mut trouble = Trouble::new();
    loop {
        match call().await {
            Err(error) if error.is_temporary() => {
                tokio::time::sleep(trouble.failed(Call::Upkeep, "start", &error)).await;
            }
            answer => return answer,
        }
    }
}
