//! A worker's trip: results of tasks and jobs there, more of both back, in one transaction.

use std::time::Duration;

use pgflow_machine::job::{JobClaim, JobSettled, SettleJobs};
use pgflow_machine::{Claim, Settled};

use super::execute::{News, tell};
use super::{
    Access, JobSession, Session, Store, Stored, WaitSession, claim, job_claim, jobs, waits,
};
use crate::backend::{Claimed, Settlement, Trip, instead_of, job_outcome};

/// What a trip asks for.
struct Wanted {
    queues: Option<Claim>,
    needs: Vec<JobClaim>,
    tasks_first: bool,
}

pub(super) async fn settle_and_claim<S: Store>(store: &S, trip: &Trip<'_>) -> Stored<Settlement> {
    let wanted =
        Wanted { queues: trip.queues(), needs: trip.needs(), tasks_first: trip.tasks_first() };
    for claim in &wanted.needs {
        claim.check()?;
    }
    // Nobody is kept from writing while there is nothing to do.
    if trip.settles.is_empty()
        && let Some(next_in) = nothing_yet(store, &wanted).await?
    {
        let claimed = Claimed { next_in, ..Claimed::default() };
        return Ok(Settlement { settled: Vec::new(), claimed });
    }
    let mut session = store.begin(Access::Write).await?;
    let mut news = News::default();
    let settled = settle(store, &mut session, trip, &mut news).await?;
    let max = trip.next.map_or(0, |claim| claim.max);
    let claimed = claim_in(store, &mut session, wanted, max, &mut news).await?;
    store.commit(session).await?;
    tell(store, news).await;
    Ok(Settlement { settled, claimed })
}

/// When there may be something, if there is nothing now.
async fn nothing_yet<S: Store>(store: &S, wanted: &Wanted) -> Stored<Option<Option<Duration>>> {
    let mut session = store.begin(Access::Read).await?;
    let mut next = None;
    if let Some(claim) = &wanted.queues {
        let lanes = claim.lanes(session.catalog());
        next = session.next_ready(&lanes, None).await?;
        let wait = session.next_wait().await?;
        if wait.is_some_and(|wait| wait <= session.now()) {
            drop(session);
            waits::advance(store).await;
            return Ok(None);
        }
        next = next.into_iter().chain(wait).min();
    }
    for claim in &wanted.needs {
        next = [next, session.next_job(&claim.needs).await?].into_iter().flatten().min();
    }
    let now = session.now();
    Ok(next.is_none_or(|next| next > now).then(|| next.map(|next| now.saturating_until(next))))
}

/// Tasks first, because the end of a run may concern jobs.
async fn settle<S: Store>(
    store: &S,
    session: &mut S::Session,
    trip: &Trip<'_>,
    news: &mut News,
) -> Stored<Vec<Settled>> {
    let mut settled = vec![Settled::Unknown; trip.settles.len()];
    let (places, settles) = trip.tasks();
    if !settles.is_empty() {
        let (outcomes, ended) = waits::settle_in(session, &settles, store.limits()).await?;
        news.extend(ended);
        places.into_iter().zip(outcomes).for_each(|(at, outcome)| settled[at] = outcome);
    }
    let (places, settles) = trip.jobs();
    if !settles.is_empty() {
        let (by, limits) = (&*trip.by(), store.limits());
        let batch = SettleJobs { settles: &settles, by, limits };
        let (answers, ready) = jobs::execute(session, &batch).await?;
        news.ready.extend(ready);
        for ((at, settle), mut answer) in places.into_iter().zip(&settles).zip(answers) {
            if let JobSettled::Refused(problem) = &answer {
                let settles = [instead_of(settle, problem)];
                let failed = SettleJobs { settles: &settles, by, limits };
                let (answers, ready) = jobs::execute(session, &failed).await?;
                news.ready.extend(ready);
                answer = answers.into_iter().next().unwrap_or(JobSettled::Unknown);
            }
            settled[at] = job_outcome(&answer);
        }
    }
    Ok(settled)
}

/// Both kinds, until the room is full.
async fn claim_in<S: Store>(
    store: &S,
    session: &mut S::Session,
    wanted: Wanted,
    max: u32,
    news: &mut News,
) -> Stored<Claimed> {
    let mut claimed = Claimed::default();
    let Wanted { queues, needs, tasks_first } = wanted;
    let (first, last) = if tasks_first { (queues, None) } else { (None, queues) };
    if let Some(claim) = first {
        claim_tasks(store, session, &claim, &mut claimed, news).await?;
    }
    for claim in needs {
        let room = max.saturating_sub(u32::try_from(claimed.len()).unwrap_or(u32::MAX));
        let claim = JobClaim { max: claim.max.min(room), ..claim };
        if claim.max > 0 {
            let (more, ready) = job_claim::claim_in(session, &claim).await?;
            news.ready.extend(ready);
            claimed.jobs.extend(more.jobs.into_iter().map(|job| (job, claim.lease)));
            claimed.next_in = [claimed.next_in, more.next_in].into_iter().flatten().min();
        }
    }
    if let Some(claim) = last {
        claim_tasks(store, session, &claim, &mut claimed, news).await?;
    }
    Ok(claimed)
}

async fn claim_tasks<S: Store>(
    store: &S,
    session: &mut S::Session,
    claim: &Claim,
    claimed: &mut Claimed,
    news: &mut News,
) -> Stored<()> {
    let room = claim.max.saturating_sub(u32::try_from(claimed.len()).unwrap_or(u32::MAX));
    if room == 0 {
        return Ok(());
    }
    let claim = Claim { max: room, ..claim.clone() };
    let (more, refused) = claim::claim_in(store, session, &claim).await?;
    news.extend(refused);
    claimed.tasks.extend(more.tasks);
    claimed.next_in = [claimed.next_in, more.next_in].into_iter().flatten().min();
    Ok(())
}
