//! Tasks and jobs in one trip: what goes to which part of the contract.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pgflow_machine::job::{JobBeat, JobHold, JobId};
use pgflow_machine::{Beat, Lease, Settle, WorkerId};

use super::metrics;
use crate::backend::{Backend, BackendError, Claim, Claimed, Settlement, Source, Swept, Trip};
use pgflow_backend::backoff::random;

/// Rings that were reported.
static RINGS: Mutex<Vec<JobId>> = Mutex::new(Vec::new());

/// Jobs in concern that were named.
static CONCERNS: Mutex<Vec<JobId>> = Mutex::new(Vec::new());

/// Claims of every kind that is wanted, for one room.
pub(super) async fn claim(backend: &dyn Backend, claim: &Claim) -> Result<Claimed, BackendError> {
    if !has_needs(claim) {
        return backend.claim(claim).await;
    }
    Ok(exchange(backend, claim.worker, &[], Some(claim)).await?.claimed)
}

/// Settles, and claims more.
pub(super) async fn settle(
    backend: &dyn Backend,
    worker: WorkerId,
    settles: &[Settle],
    next: Option<&Claim>,
) -> Result<Settlement, BackendError> {
    let has_jobs = settles.iter().any(|settle| settle.lease.job().is_some());
    if !has_jobs && next.is_none_or(|claim| !has_needs(claim)) {
        return backend.settle(settles, next).await;
    }
    exchange(backend, worker, settles, next).await
}

/// Results of both kinds, and more of both.
async fn exchange(
    backend: &dyn Backend,
    worker: WorkerId,
    settles: &[Settle],
    next: Option<&Claim>,
) -> Result<Settlement, BackendError> {
    // Drawn, not counted: what else goes on in step with the trips must not decide whose turn it is.
    let trip = Trip { worker, settles, next, turn: random() };
    backend.jobs()?.settle_and_claim(&trip).await
}

/// Beats for every kind.
pub(super) async fn beat(
    backend: &dyn Backend,
    leases: &[Lease],
) -> Result<Vec<Beat>, BackendError> {
    let is_job = |at: &usize| leases[*at].job().is_some();
    let (jobs, tasks): (Vec<_>, Vec<_>) = (0..leases.len()).partition(is_job);
    if jobs.is_empty() {
        return backend.heartbeat(leases).await;
    }
    let mut beats = vec![Beat::Lost; leases.len()];
    if !tasks.is_empty() {
        let batch: Vec<_> = tasks.iter().map(|at| leases[*at].clone()).collect();
        for (at, beat) in tasks.iter().zip(backend.heartbeat(&batch).await?) {
            beats[*at] = beat;
        }
    }
    let mut by_length: BTreeMap<Duration, Vec<(usize, JobHold)>> = BTreeMap::new();
    for at in jobs {
        if let Lease::Job { hold, lasts } = &leases[at] {
            by_length.entry(*lasts).or_default().push((at, hold.clone()));
        }
    }
    for (lasts, held) in by_length {
        let holds: Vec<_> = held.iter().map(|(_, hold)| hold.clone()).collect();
        for ((at, _), beat) in held.iter().zip(backend.jobs()?.beat_jobs(&holds, lasts).await?) {
            beats[*at] = match beat {
                JobBeat::Extended => Beat::Extended,
                JobBeat::Lost => Beat::Lost,
                JobBeat::Cancelled => Beat::Cancelled,
            };
        }
    }
    Ok(beats)
}

/// Sweeps every kind that there is.
pub(super) async fn sweep(backend: &dyn Backend, with_jobs: bool) -> Result<Swept, BackendError> {
    if with_jobs {
        let swept = backend.jobs()?.sweep_jobs().await?;
        if swept.lapses.lapsed > 0 {
            tracing::warn!(lapses = swept.lapses.lapsed, "leases of jobs have lapsed");
        }
        report_rings(swept.rings);
        report_concerns(swept.in_concern);
    }
    backend.sweep().await
}

/// Says once of a ring that it is there, and not with each sweep.
fn report_rings(rings: Vec<JobId>) {
    let mut said = RINGS.lock().unwrap_or_else(PoisonError::into_inner);
    if *said != rings {
        if !rings.is_empty() {
            let jobs: Vec<_> = rings.iter().take(10).map(JobId::as_str).collect();
            tracing::warn!(?jobs, "jobs wait for themselves: cancel one of each ring");
        }
        *said = rings;
    }
}

/// Shows how many jobs are set aside because they lost too many workers, and names those that are new, once.
fn report_concerns(jobs: Vec<JobId>) {
    ::metrics::gauge!(metrics::IN_CONCERN).set(metrics::gauged(jobs.len()));
    let mut said = CONCERNS.lock().unwrap_or_else(PoisonError::into_inner);
    let new = jobs.iter().filter(|job| !said.contains(job)).take(10);
    let new: Vec<_> = new.map(JobId::as_str).collect();
    if !new.is_empty() {
        tracing::warn!(jobs = ?new, "jobs have lost too many workers in a row: clear or cancel them");
    }
    *said = jobs;
}

/// Gives back what the worker does not know of, of every kind that it asks for.
pub(super) async fn release_unknown(
    backend: &dyn Backend,
    worker: WorkerId,
    sources: &[Source],
    known: &[Lease],
) -> Result<u64, BackendError> {
    let mut released = 0;
    if sources.iter().any(|source| source.as_need().is_some()) {
        let held: Vec<_> = known.iter().filter_map(Lease::job).cloned().collect();
        let (jobs, worker) = (backend.jobs()?, worker.0.to_string());
        released += jobs.release_unknown_jobs(&worker, &held).await?;
    }
    if sources.iter().any(|source| source.as_queue().is_some()) {
        released += backend.release_unknown(worker, sources, known).await?;
    }
    Ok(released)
}

/// Whether jobs are asked for.
pub(super) fn has_needs(claim: &Claim) -> bool {
    claim.needs().next().is_some()
}
