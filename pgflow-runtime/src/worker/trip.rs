//! A trip to the database: results there, tasks back.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use pgflow_machine::{Beat, Lease, Settle, Source, WorkerId};

use super::verdict::panic_text;
use super::{kinds, stages};
use crate::backend::{Backend, BackendError, Claim, Claimed, Settlement, Swept};
use crate::schedule::Ticker;

/// A call that takes longer than this counts as lost: the connection may be dead without anybody saying so.
const PATIENCE: Duration = Duration::from_secs(30);

/// A boxed future.
pub(super) type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What a trip brought back.
#[derive(Debug)]
pub(super) struct Returned {
    pub(super) settles: Vec<Settle>,
    /// It brought a result that was refused before.
    pub(super) is_again: bool,
    pub(super) claim: Option<Claim>,
    pub(super) work: Result<Settlement, BackendError>,
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
pub(super) struct ReleaseRequest {
    pub(super) worker: WorkerId,
    pub(super) sources: Vec<Source>,
    pub(super) known: Vec<Lease>,
}

/// Brings results to the database, and tasks back.
pub(super) fn set_out(
    backend: Arc<dyn Backend>,
    worker: WorkerId,
    settles: Vec<Settle>,
    claim: Option<Claim>,
) -> BoxFuture<Returned> {
    Box::pin(async move {
        let since = Instant::now();
        let work = match (&claim, settles.is_empty()) {
            (Some(claim), true) => {
                bounded(async { stages::claim(&*backend, claim).await }).await.map(claimed)
            }
            (claim, _) => settle(&*backend, worker, &settles, claim.as_ref()).await,
        };
        let (swept, unknown, is_again) = (None, None, false);
        Returned { settles, is_again, claim, work, swept, unknown, took: since.elapsed() }
    })
}

/// Brings a result to the database that it refused before.
pub(super) fn again(
    backend: Arc<dyn Backend>,
    worker: WorkerId,
    refused: Settle,
) -> BoxFuture<Returned> {
    Box::pin(async move {
        let returned = set_out(backend, worker, vec![refused], None).await;
        Returned { is_again: true, ..returned }
    })
}

/// Takes tasks back from workers that are gone, and brings some.
pub(super) fn sweep_and_claim(backend: Arc<dyn Backend>, claim: Claim) -> BoxFuture<Returned> {
    Box::pin(async move {
        let since = Instant::now();
        let (swept, work) = match bounded(swept_and_claimed(&*backend, &claim)).await {
            Ok((swept, tasks)) => (Some(swept), Ok(claimed(tasks))),
            Err(error) => (None, Err(error)),
        };
        let (settles, claim, took) = (Vec::new(), Some(claim), since.elapsed());
        Returned { settles, is_again: false, claim, work, swept, unknown: None, took }
    })
}

async fn swept_and_claimed(
    backend: &dyn Backend,
    claim: &Claim,
) -> Result<(Swept, Claimed), BackendError> {
    let has_needs = kinds::has_needs(claim);
    if !has_needs && !claim.wants.iter().any(stages::is_stage) {
        return backend.sweep_and_claim(claim).await;
    }
    let swept = kinds::sweep(backend, has_needs).await?;
    Ok((swept, stages::claim(backend, claim).await?))
}

fn claimed(claimed: Claimed) -> Settlement {
    Settlement { settled: Vec::new(), claimed }
}

/// Brings results to the database, claims nothing, and gives back what the worker does not know of. Results go
/// first: they do not depend on it.
pub(super) fn ask(
    backend: Arc<dyn Backend>,
    settles: Vec<Settle>,
    question: ReleaseRequest,
) -> BoxFuture<Returned> {
    Box::pin(async move {
        let since = Instant::now();
        let work = if settles.is_empty() {
            Ok(Settlement::default())
        } else {
            settle(&*backend, question.worker, &settles, None).await
        };
        let ReleaseRequest { worker, sources, known } = question;
        let unknown = stages::release_unknown(&*backend, worker, &sources, &known);
        let unknown = bounded(unknown).await;
        let (claim, swept, unknown) = (None, None, Some(unknown));
        Returned { settles, is_again: false, claim, work, swept, unknown, took: since.elapsed() }
    })
}

/// What is done beside trips, one at a time.
#[derive(Debug)]
pub(super) enum Upkeep {
    Heartbeat(Vec<Lease>, Result<Vec<Beat>, BackendError>),
    Sweep(Result<Swept, BackendError>),
    /// How long it is until a schedule is due, if that is known.
    Tick(Result<Option<Duration>, BackendError>),
}

pub(super) fn beat(backend: Arc<dyn Backend>, leases: Vec<Lease>) -> BoxFuture<Upkeep> {
    Box::pin(async move {
        let beats = bounded(async { stages::beat(&*backend, &leases).await }).await;
        Upkeep::Heartbeat(leases, beats)
    })
}

pub(super) fn sweep(backend: Arc<dyn Backend>, with_jobs: bool) -> BoxFuture<Upkeep> {
    Box::pin(async move {
        let swept = bounded(async { kinds::sweep(&*backend, with_jobs).await }).await;
        Upkeep::Sweep(swept)
    })
}

pub(super) fn tick(backend: Arc<dyn Backend>, ticker: Arc<Ticker>) -> BoxFuture<Upkeep> {
    Box::pin(async move {
        let next_in = bounded(async { ticker.tick(&*backend).await }).await;
        Upkeep::Tick(next_in)
    })
}

/// Ready when the future is; never, if there is none.
pub(super) async fn arrival<T>(trip: &mut Option<BoxFuture<T>>) -> T {
    match trip {
        Some(future) => {
            let arrived = future.await;
            *trip = None;
            arrived
        }
        None => std::future::pending().await,
    }
}

async fn settle(
    backend: &dyn Backend,
    worker: WorkerId,
    settles: &[Settle],
    next: Option<&Claim>,
) -> Result<Settlement, BackendError> {
    bounded(async { stages::settle(backend, worker, settles, next).await }).await
}

/// An answer in bounded time. A panic counts as a refusal: what caused it is told apart from the rest, and the worker's
/// other handlers go on.
async fn bounded<T>(
    call: impl Future<Output = Result<T, BackendError>>,
) -> Result<T, BackendError> {
    match tokio::time::timeout(PATIENCE, AssertUnwindSafe(call).catch_unwind()).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(panic)) => Err(BackendError::Refused(panic_text(panic).into())),
        Err(elapsed) => Err(BackendError::Unreachable(Box::new(elapsed))),
    }
}
