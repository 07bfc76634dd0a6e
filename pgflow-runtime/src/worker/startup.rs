//! What a worker looks at before it takes its first task.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use pgflow_machine::WorkerId;
use tokio::sync::mpsc::unbounded_channel;
use tokio::time::Instant;

use super::builder::Worker;
use super::concurrency::{self, variable};
use super::desk::Desk;
use super::engine::Engine;
use super::held::Held;
use super::lost_claim::LostClaim;
use super::pace::Pace;
use super::report::WorkerReport;
use super::settles::Settles;
use super::shutdown::Stage;
use super::slots::Slots;
use super::sweep::Sweeps;
use super::trouble::Trouble;
use super::{WorkerError, served};
use crate::Registry;
use crate::backend::{BackendError, Reply};

/// A worker that is ready to work, or why it should not.
pub(super) async fn start(worker: Worker) -> Result<Engine, WorkerError> {
    let Worker { db, registry, states, concurrency, limits, grace, health } = worker;
    let registry = registry?;
    let backend = db.backend().clone();
    served::check_program(&registry, &states, backend.as_ref())?;
    let slots = slots(&registry, concurrency::find(concurrency, variable)?, &limits)?;
    // Before the first claim, so that no hint is missed.
    let wakes = backend.wakes();
    let known = served::known(&registry, backend.as_ref()).await?;
    let payload_limits = persistently(|| backend.limits()).await?;
    let queues = known.iter().map(|served| served.slug().to_owned()).collect();
    let (sender, done) = unbounded_channel();
    let (limits, inputs) = (payload_limits, Mutex::new(HashMap::new()));
    let desk = Desk { backend, served: known, states, limits, done: sender, inputs };
    let now = Instant::now();
    Ok(Engine {
        id: WorkerId::new(),
        desk: Arc::new(desk),
        queues,
        wakes,
        done,
        slots,
        held: Held::default(),
        settles: Settles::default(),
        in_flight: 0,
        is_asking: false,
        lost_claim: LostClaim::default(),
        pace: Pace::new(now),
        sweeps: Sweeps::new(now),
        trouble: Trouble::new(),
        stage: Stage::Working,
        grace,
        report: WorkerReport::default(),
        health,
    })
}

fn slots(
    registry: &Registry,
    concurrency: usize,
    limits: &[super::builder::Limit],
) -> Result<Slots, WorkerError> {
    if concurrency == 0 {
        return Err(WorkerError::Zero { what: "concurrency".to_owned() });
    }
    let (mut slots, served) = (Slots::new(concurrency), registry.served());
    for limit in limits {
        let (flow, step) = (limit.flow, limit.step);
        if limit.max == 0 {
            return Err(WorkerError::Zero { what: format!("limit of step `{step}`") });
        }
        if !registry.flows().any(|known| known.slug == flow && known.step(step).is_some()) {
            return Err(WorkerError::UnknownLimit { flow, step });
        }
        slots.limit(flow, step, limit.max, &served);
    }
    Ok(slots)
}

/// The answer to a question that a worker can't start without.
pub(super) async fn persistently<'a, T>(
    mut call: impl FnMut() -> Reply<'a, T>,
) -> Result<T, BackendError> {
    let mut trouble = Trouble::new();
    loop {
        match call().await {
            Err(error) if error.is_temporary() => {
                tokio::time::sleep(trouble.failed("start", &error)).await;
            }
            answer => return answer,
        }
    }
}
