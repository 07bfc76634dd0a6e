//! Taking jobs.

use std::collections::HashSet;
use std::time::Duration;

use pgflow_machine::Timestamp;
use pgflow_machine::job::{
    JobClaim, JobToken, LapseJobs, ReadyJob, TakeJobs, TakenJob, WakeJobs, fitting,
};

use super::job_upkeep::paused;
use super::jobs::{Ready, execute, tell};
use super::{Access, JobSession, Session, Store, Stored};
use crate::backend::{ClaimedJob, ClaimedJobs};

/// Jobs that one transaction of a claim or sweep looks at because time has passed.
pub(super) const BATCH: u32 = 500;

/// So often a claim looks again because keys were held by others.
const LOOKS: u32 = 8;

/// Claims. It does not ask for a transaction that writes when there is nothing to take.
pub(super) async fn claim<S: Store>(store: &S, claim: &JobClaim) -> Stored<ClaimedJobs> {
    claim.check()?;
    let mut reading = store.begin(Access::Read).await?;
    let next = reading.next_job(&claim.needs).await?;
    let now = reading.now();
    drop(reading);
    if next.is_none_or(|next| next > now) {
        return Ok(ClaimedJobs { jobs: Vec::new(), next_in: wait(now, next) });
    }
    let mut session = store.begin(Access::Write).await?;
    let (claimed, ready) = claim_in(&mut session, claim).await?;
    store.commit(session).await?;
    tell(store, ready).await;
    Ok(claimed)
}

/// Claims in a transaction that may write. Also says what others are to be told of after the commit: leases that ran out may have
/// ended jobs.
pub(super) async fn claim_in<S: Session>(
    session: &mut S,
    claim: &JobClaim,
) -> Stored<(ClaimedJobs, Ready)> {
    let mut ready = Ready::default();
    let lapsed = session.lapsed_jobs(Some(&claim.needs), BATCH).await?;
    if !lapsed.is_empty() {
        ready = execute(session, &LapseJobs { jobs: &lapsed }).await?.1;
    }
    let due = session.due_jobs(&claim.needs, BATCH).await?;
    if !due.is_empty() {
        execute(session, &WakeJobs { jobs: &due }).await?;
    }
    let claim = claim.clone().without(&paused(session).await?);
    if claim.needs.is_empty() {
        return Ok((ClaimedJobs::default(), ready));
    }
    let taken = take(session, &claim).await?;
    let jobs = hand_out(session, taken).await?;
    let is_full = jobs.len() >= claim.max as usize;
    let next = if is_full { None } else { session.next_job(&claim.needs).await? };
    Ok((ClaimedJobs { jobs, next_in: wait(session.now(), next) }, ready))
}

fn wait(now: Timestamp, next: Option<Timestamp>) -> Option<Duration> {
    next.map(|next| now.saturating_until(next))
}

/// Takes what can be had, as much as is handed out at once. A look may find jobs that cannot, which are out of the way then.
async fn take<S: Session>(session: &mut S, claim: &JobClaim) -> Stored<Vec<TakenJob>> {
    let mut taken = Vec::new();
    let mut bytes = 0;
    for _ in 0..LOOKS {
        let room = claim.max.saturating_sub(u32::try_from(taken.len()).unwrap_or(u32::MAX));
        if room == 0 {
            break;
        }
        let ready = session.ready_jobs(&claim.needs, room).await?;
        let found = fitting(&ready, bytes);
        if found.is_empty() {
            break;
        }
        let candidates: Vec<_> = found.iter().map(|job| job.id.clone()).collect();
        let tokens: Vec<_> = candidates.iter().map(|_| JobToken::new()).collect();
        let (worker, lease) = (claim.worker.as_str(), claim.lease);
        let take = TakeJobs { candidates: &candidates, tokens: &tokens, worker, lease };
        let more = execute(session, &take).await?.0;
        bytes += weight(found, &more);
        taken.extend(more);
    }
    Ok(taken)
}

/// What those of these jobs weigh that were taken.
fn weight(found: &[ReadyJob], taken: &[TakenJob]) -> usize {
    let taken: HashSet<_> = taken.iter().map(|taken| &taken.hold.job).collect();
    found.iter().filter(|job| taken.contains(&job.id)).map(|job| job.bytes).sum()
}

/// Adds to jobs what they are about.
pub(super) async fn hand_out<S: Session>(
    session: &mut S,
    taken: Vec<TakenJob>,
) -> Stored<Vec<ClaimedJob>> {
    if taken.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<_> = taken.iter().map(|taken| taken.hold.job.clone()).collect();
    let mut payloads = session.job_payloads(&ids).await?;
    let claimed = |taken: TakenJob| {
        let payload = payloads.remove(&taken.hold.job).unwrap_or_default();
        ClaimedJob { taken, payload }
    };
    Ok(taken.into_iter().map(claimed).collect())
}
