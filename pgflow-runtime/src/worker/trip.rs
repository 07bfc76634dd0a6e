//! A trip to the database: results there, tasks back.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pgflow_machine::{Beat, Lease, Settle, WorkerId};

use crate::backend::{Backend, BackendError, Claim, Claimed, Reply, Swept, Work};

/// A call that takes longer than this counts as lost: the connection may be dead without anybody saying so.
const PATIENCE: Duration = Duration::from_secs(30);

/// Something under way.
pub(super) type Underway<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What a trip brought back.
#[derive(Debug)]
pub(super) struct Returned {
    pub(super) settles: Vec<Settle>,
    pub(super) claim: Option<Claim>,
    pub(super) work: Result<Work, BackendError>,
    /// What a sweep that went along did.
    pub(super) swept: Option<Swept>,
    /// How many tasks were given back that the worker did not know of, if it asked for that.
    pub(super) unknown: Option<Result<u64, BackendError>>,
    pub(super) took: Duration,
}

impl Returned {
    /// What it was for, unless it only asked.
    pub(super) fn kind(&self) -> Option<&'static str> {
        match (&self.claim, self.settles.is_empty()) {
            (_, false) => Some("settle"),
            (Some(_), true) => Some("claim"),
            (None, true) => None,
        }
    }
}

/// Who asks for tasks that it does not know of, and what it knows.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) worker: WorkerId,
    pub(super) queues: Vec<String>,
    pub(super) known: Vec<Lease>,
}

/// Brings results to the database, and tasks back.
pub(super) fn set_out(
    backend: Arc<dyn Backend>,
    settles: Vec<Settle>,
    claim: Option<Claim>,
) -> Underway<Returned> {
    Box::pin(async move {
        let since = Instant::now();
        let work = match (&claim, settles.is_empty()) {
            (Some(claim), true) => bounded(backend.claim(claim)).await.map(claimed),
            (claim, _) => bounded(backend.settle(&settles, claim.as_ref())).await,
        };
        let (swept, unknown) = (None, None);
        Returned { settles, claim, work, swept, unknown, took: since.elapsed() }
    })
}

/// Takes tasks back from workers that are gone, and brings some.
pub(super) fn sweep_and_claim(backend: Arc<dyn Backend>, claim: Claim) -> Underway<Returned> {
    Box::pin(async move {
        let since = Instant::now();
        let (swept, work) = match bounded(backend.sweep_and_claim(&claim)).await {
            Ok((swept, tasks)) => (Some(swept), Ok(claimed(tasks))),
            Err(error) => (None, Err(error)),
        };
        let (settles, claim, took) = (Vec::new(), Some(claim), since.elapsed());
        Returned { settles, claim, work, swept, unknown: None, took }
    })
}

fn claimed(claimed: Claimed) -> Work {
    Work { settled: Vec::new(), claimed }
}

/// Brings results to the database, claims nothing, and gives back what the worker does not know of. Results go
/// first: they do not depend on it.
pub(super) fn ask(
    backend: Arc<dyn Backend>,
    settles: Vec<Settle>,
    question: Question,
) -> Underway<Returned> {
    Box::pin(async move {
        let since = Instant::now();
        let work = if settles.is_empty() {
            Ok(Work::default())
        } else {
            bounded(backend.settle(&settles, None)).await
        };
        let Question { worker, queues, known } = question;
        let unknown = bounded(backend.release_unknown(worker, &queues, &known)).await;
        let (claim, swept, unknown) = (None, None, Some(unknown));
        Returned { settles, claim, work, swept, unknown, took: since.elapsed() }
    })
}

/// What is done beside trips, one at a time.
#[derive(Debug)]
pub(super) enum Upkeep {
    Heartbeat(Vec<Lease>, Result<Vec<Beat>, BackendError>),
    Sweep(Result<Swept, BackendError>),
}

pub(super) fn beat(backend: Arc<dyn Backend>, leases: Vec<Lease>) -> Underway<Upkeep> {
    Box::pin(async move {
        let beats = bounded(backend.heartbeat(&leases)).await;
        Upkeep::Heartbeat(leases, beats)
    })
}

pub(super) fn sweep(backend: Arc<dyn Backend>) -> Underway<Upkeep> {
    Box::pin(async move { Upkeep::Sweep(bounded(backend.sweep()).await) })
}

/// Ready when `underway` is; never, if nothing is under way.
pub(super) async fn arrival<T>(underway: &mut Option<Underway<T>>) -> T {
    match underway {
        Some(future) => {
            let arrived = future.await;
            *underway = None;
            arrived
        }
        None => std::future::pending().await,
    }
}

async fn bounded<T>(call: Reply<'_, T>) -> Result<T, BackendError> {
    match tokio::time::timeout(PATIENCE, call).await {
        Ok(answer) => answer,
        Err(elapsed) => Err(BackendError::Unreachable(Box::new(elapsed))),
    }
}
