//! Tasks and jobs in one trip: what goes to which part of the contract.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use pgflow_machine::job::{
    JobBeat, JobClaim, JobHold, JobRetry, JobSettle, JobSettled, JobVerdict,
};
use pgflow_machine::{Beat, Lease, Retry, Settle, Settled, Verdict, Want, WorkerId};

use crate::backend::{Backend, BackendError, Claim, Claimed, Jobs, Settlement, Source, Swept};

/// How long a lease of a job lasts if its need does not say so.
pub(crate) const LEASE: Duration = Duration::from_mins(1);

/// Before the next attempt at a job whose handler did not come to an end of its own.
const PAUSE: Duration = Duration::from_secs(5);

/// Claims of both kinds begin with the one and the other in turn.
static CLAIMS: AtomicU32 = AtomicU32::new(0);

/// Claims of every kind that is wanted, for one room.
pub(super) async fn claim(backend: &dyn Backend, claim: &Claim) -> Result<Claimed, BackendError> {
    if !has_needs(claim) {
        return backend.claim(claim).await;
    }
    let tasks_first = is_turn_of_tasks();
    let mut claimed = Claimed::default();
    if has_queues(claim) && tasks_first {
        merge(&mut claimed, backend.claim(&of_queues(claim)).await)?;
    }
    claim_more(backend, claim, tasks_first, claimed).await
}

/// Neither kind may starve the other: they come first in turn, also when results go along.
fn is_turn_of_tasks() -> bool {
    CLAIMS.fetch_add(1, Ordering::Relaxed).is_multiple_of(2)
}

/// Jobs, and tasks if those were not asked for before.
async fn claim_more(
    backend: &dyn Backend,
    claim: &Claim,
    has_tasks: bool,
    mut claimed: Claimed,
) -> Result<Claimed, BackendError> {
    let jobs = claim_jobs(backend, claim, room(claim, &claimed)).await;
    merge(&mut claimed, jobs)?;
    let left = room(claim, &claimed);
    if !has_tasks && has_queues(claim) && left > 0 {
        merge(&mut claimed, backend.claim(&Claim { max: left, ..of_queues(claim) }).await)?;
    }
    Ok(claimed)
}

/// Settles, and claims more.
pub(super) async fn settle(
    backend: &dyn Backend,
    worker: WorkerId,
    settles: &[Settle],
    next: Option<&Claim>,
) -> Result<Settlement, BackendError> {
    let is_job = |at: &usize| settles[*at].lease.job().is_some();
    let (jobs, tasks): (Vec<_>, Vec<_>) = (0..settles.len()).partition(is_job);
    if jobs.is_empty() && next.is_none_or(|claim| !has_needs(claim)) {
        return backend.settle(settles, next).await;
    }
    let mut settled = vec![Settled::Unknown; settles.len()];
    // First, because what is claimed with tasks must not get lost when jobs can't be settled.
    for (at, outcome) in jobs.iter().zip(settle_jobs(backend, worker, settles, &jobs).await?) {
        settled[*at] = outcome;
    }
    let mut claimed = Claimed::default();
    let tasks_first = is_turn_of_tasks();
    let of_queues = next.filter(|claim| has_queues(claim) && tasks_first).map(of_queues);
    if !tasks.is_empty() || of_queues.is_some() {
        let batch: Vec<_> = tasks.iter().map(|at| settles[*at].clone()).collect();
        let work = backend.settle(&batch, of_queues.as_ref()).await?;
        for (at, outcome) in tasks.iter().zip(work.settled) {
            settled[*at] = outcome;
        }
        claimed = work.claimed;
    }
    if let Some(claim) = next {
        claimed = claim_more(backend, claim, tasks_first, claimed).await?;
    }
    Ok(Settlement { settled, claimed })
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
    }
    backend.sweep().await
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

fn has_queues(claim: &Claim) -> bool {
    claim.queues().next().is_some()
}

/// The part of a claim that is about tasks.
fn of_queues(claim: &Claim) -> Claim {
    let is_queue = |want: &&Want| want.source.as_queue().is_some();
    Claim { wants: claim.wants.iter().filter(is_queue).cloned().collect(), ..claim.clone() }
}

fn room(claim: &Claim, claimed: &Claimed) -> u32 {
    claim.max.saturating_sub(u32::try_from(claimed.len()).unwrap_or(u32::MAX))
}

/// Adds what was claimed. An error counts only while there is nothing: what was claimed already must not get lost.
fn merge(claimed: &mut Claimed, more: Result<Claimed, BackendError>) -> Result<(), BackendError> {
    match more {
        Ok(more) => {
            claimed.tasks.extend(more.tasks);
            claimed.jobs.extend(more.jobs);
            let both = [claimed.next_in, more.next_in];
            claimed.next_in = both.into_iter().flatten().min();
            Ok(())
        }
        Err(error) if claimed.is_empty() => Err(error),
        Err(error) => {
            tracing::debug!(%error, "a part of a claim failed");
            Ok(())
        }
    }
}

/// Needs that are asked for together, and how many jobs of them.
type NeedsAndMost = (Vec<String>, u32);

async fn claim_jobs(
    backend: &dyn Backend,
    claim: &Claim,
    max: u32,
) -> Result<Claimed, BackendError> {
    // Those without a limit in one claim per length of a lease; each that has one in its own.
    let mut parts: BTreeMap<(Duration, Option<&str>), NeedsAndMost> = BTreeMap::new();
    for want in &claim.wants {
        let Some(need) = want.source.as_need() else { continue };
        let (lease, quota) = (want.lease.unwrap_or(LEASE), want.quotas.first());
        let most = quota.map_or(max, |quota| quota.max);
        let part = parts.entry((lease, quota.map(|_| need))).or_insert((Vec::new(), most));
        part.0.push(need.to_owned());
    }
    let (jobs, worker) = (backend.jobs()?, claim.worker.0.to_string());
    let mut claimed = Claimed::default();
    for ((lease, _), (needs, most)) in parts {
        let left = max.saturating_sub(u32::try_from(claimed.jobs.len()).unwrap_or(u32::MAX));
        if left.min(most) == 0 {
            continue;
        }
        let of_length = JobClaim { worker: worker.clone(), needs, lease, max: left.min(most) };
        let got = jobs.claim_jobs(&of_length).await.map(|got| Claimed {
            jobs: got.jobs.into_iter().map(|job| (job, lease)).collect(),
            next_in: got.next_in,
            ..Claimed::default()
        });
        merge(&mut claimed, got)?;
    }
    Ok(claimed)
}

/// Settles the jobs among these. What can't be as it was said is failed with the reason.
async fn settle_jobs(
    backend: &dyn Backend,
    worker: WorkerId,
    settles: &[Settle],
    jobs: &[usize],
) -> Result<Vec<Settled>, BackendError> {
    if jobs.is_empty() {
        return Ok(Vec::new());
    }
    let (contract, by) = (backend.jobs()?, worker.0.to_string());
    let batch: Vec<_> = jobs.iter().filter_map(|at| job_settle(&settles[*at])).collect();
    let answers = contract.settle_jobs(&batch, &by).await?;
    let mut settled = Vec::with_capacity(batch.len());
    for (settle, answer) in batch.iter().zip(answers) {
        settled.push(match answer {
            JobSettled::Refused(problem) => {
                let error = format!("what comes next cannot be: {problem}");
                fail(contract, settle, error, &by).await?
            }
            answer => outcome(&answer),
        });
    }
    Ok(settled)
}

async fn fail(
    jobs: &dyn Jobs,
    settle: &JobSettle,
    error: String,
    by: &str,
) -> Result<Settled, BackendError> {
    tracing::error!(job = %settle.hold.job, error, "the end of an attempt was refused");
    let verdict = JobVerdict::Failed { error, retry: JobRetry::Never };
    let failed = JobSettle::new(settle.hold.clone(), verdict);
    let answers = jobs.settle_jobs(&[failed], by).await?;
    Ok(answers.first().map_or(Settled::Unknown, outcome))
}

fn outcome(answer: &JobSettled) -> Settled {
    match answer {
        JobSettled::Applied => Settled::Applied,
        JobSettled::Fenced => Settled::Fenced,
        JobSettled::AlreadySettled => Settled::AlreadySettled,
        JobSettled::Cancelled => Settled::RunEnded,
        JobSettled::Unknown | JobSettled::Refused(_) => Settled::Unknown,
    }
}

/// The end of an attempt at a job, in the words of jobs.
fn job_settle(settle: &Settle) -> Option<JobSettle> {
    let hold = settle.lease.job()?.clone();
    let (verdict, submits) = match &settle.verdict {
        Verdict::Job(end) => (end.verdict.clone(), end.submits.clone()),
        Verdict::Completed(output) => (JobVerdict::Finished(output.clone()), Vec::new()),
        Verdict::Failed { error, retry } => {
            let retry = match retry {
                Retry::ByPolicy => JobRetry::After(PAUSE),
                Retry::After(delay) => JobRetry::After(*delay),
                Retry::Never => JobRetry::Never,
            };
            (JobVerdict::Failed { error: error.clone(), retry }, Vec::new())
        }
        Verdict::Released | Verdict::Yielded { .. } => (JobVerdict::Released, Vec::new()),
    };
    Some(JobSettle { hold, verdict, submits })
}
