//! Taking and settling work.

use std::collections::BTreeSet;
use std::time::Duration;

use pgflow_machine::{
    BULK_FROM, Candidate, Choice, Claim, InputParts, Lane, Ready, Retry, Settle, SettleBatch,
    TaskKey, TaskLease, Timestamp, Verdict, bulk_until, input_too_large, lost_after,
};

use super::execute::{News, execute, tell};
use super::{Access, Session, Store, Stored, Take, Taken, WaitSession, waits};
use crate::backend::{Claimed, ClaimedTask, Settlement};

/// So many tasks of wide maps are moved by a claim that finds them in the way of others.
const AT_ONCE: u32 = 5_000;

/// Claims in a transaction of its own. It does not ask for one that writes when there is nothing to take.
pub(super) async fn claim<S: Store>(store: &S, claim: &Claim) -> Stored<Claimed> {
    let mut reading = store.begin(Access::Read).await?;
    let lanes = claim.lanes(reading.catalog());
    let next = reading.next_ready(&lanes, None).await?;
    let wait = reading.next_wait().await?;
    let now = reading.now();
    drop(reading);
    let next = if wait.is_some_and(|wait| wait <= now) {
        waits::advance(store).await;
        Some(now)
    } else {
        next.into_iter().chain(wait).min()
    };
    if next.is_none_or(|next| next > now) {
        let next_in = next.map(|next| now.saturating_until(next));
        return Ok(Claimed::of_tasks(Vec::new(), next_in));
    }
    let mut session = store.begin(Access::Write).await?;
    let (claimed, news) = claim_in(store, &mut session, claim).await?;
    store.commit(session).await?;
    tell(store, news).await;
    Ok(claimed)
}

/// Settles, and claims more in the same transaction.
pub(super) async fn settle<S: Store>(
    store: &S,
    settles: &[Settle],
    next: Option<&Claim>,
) -> Stored<Settlement> {
    let mut session = store.begin(Access::Write).await?;
    let (settled, mut news) = waits::settle_in(&mut session, settles, store.limits()).await?;
    let mut claimed = Claimed::default();
    if let Some(claim) = next {
        let (more, refused) = claim_in(store, &mut session, claim).await?;
        news.extend(refused);
        claimed = more;
    }
    store.commit(session).await?;
    tell(store, news).await;
    Ok(Settlement { settled, claimed })
}

/// Claims in a transaction that may write.
pub(super) async fn claim_in<S: Store>(
    store: &S,
    session: &mut S::Session,
    claim: &Claim,
) -> Stored<(Claimed, News)> {
    let lanes = claim.lanes(session.catalog());
    if lanes.is_empty() {
        return Ok((Claimed::default(), News::default()));
    }
    let mut ready = session.ready(&lanes, claim.max).await?;
    let in_the_way = in_the_way(&lanes, &ready, session.now());
    if !in_the_way.is_empty() {
        session.make_way(&in_the_way, AT_ONCE).await?;
        ready = session.ready(&lanes, claim.max).await?;
    }
    let Choice { tasks, oversized } = claim.choose(&lanes, ready, session.now(), store.nth_claim());
    let taken = take(session, claim, &lanes, &tasks).await?;
    let oversized = take(session, claim, &lanes, &oversized).await?;
    let news = refuse(store, session, &oversized).await?;
    let is_full = taken.len() >= usize::try_from(claim.max).unwrap_or(usize::MAX);
    let now = session.now();
    let next = if is_full { None } else { next_look(session, &lanes, now).await? };
    let tasks = hand_out(session, taken).await?;
    Ok((Claimed::of_tasks(tasks, next.map(|next| now.saturating_until(next))), news))
}

/// When there may be something to take that cannot be taken now.
async fn next_look<S: Session>(
    session: &mut S,
    lanes: &[Lane],
    now: Timestamp,
) -> Stored<Option<Timestamp>> {
    let ready = session.next_ready(lanes, Some(now)).await?;
    Ok(ready.into_iter().chain(session.next_wait().await?).min())
}

/// Lanes in which tasks of wide maps stand in turn, because they were delayed or tried before.
fn in_the_way<'a, T>(
    lanes: &'a [Lane],
    ready: &[Ready<Candidate<T>>],
    now: Timestamp,
) -> Vec<&'a Lane> {
    let edge = bulk_until(now);
    let is_wide =
        |ready: &&Ready<Candidate<T>>| ready.task.index >= BULK_FROM && ready.ready_at > edge;
    let wide: BTreeSet<_> = ready.iter().filter(is_wide).map(|ready| ready.task.lane).collect();
    wide.into_iter().map(|number| &lanes[number]).collect()
}

async fn take<S: Session>(
    session: &mut S,
    claim: &Claim,
    lanes: &[Lane],
    chosen: &[Candidate<S::Task>],
) -> Stored<Vec<Taken>> {
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    let now = session.now();
    let take = |candidate: &Candidate<S::Task>| {
        let lane = &lanes[candidate.lane];
        let lost_after = lost_after(now, None, lane.version.plan.step(lane.step));
        Take { task: candidate.task, lost_after }
    };
    let tasks: Vec<_> = chosen.iter().map(take).collect();
    session.take(claim.worker, &tasks).await
}

/// Fails tasks that nobody can be given.
async fn refuse<S: Store>(
    store: &S,
    session: &mut S::Session,
    oversized: &[Taken],
) -> Stored<News> {
    if oversized.is_empty() {
        return Ok(News::default());
    }
    let settle = |task: &Taken| {
        let lease = lease(task);
        let error = input_too_large(&lease.task.step);
        Settle { lease: lease.into(), verdict: Verdict::Failed { error, retry: Retry::Never } }
    };
    let settles: Vec<_> = oversized.iter().map(settle).collect();
    let batch = SettleBatch { settles: &settles, limits: store.limits() };
    execute(session, &batch).await.map(|(_, news)| news)
}

/// Adds to tasks what they work on.
async fn hand_out<S: Session>(session: &mut S, taken: Vec<Taken>) -> Stored<Vec<ClaimedTask>> {
    let mut parts = InputParts::default();
    for task in taken.iter().filter(|task| task.element.is_none()) {
        parts.want(task.at.run, &task.version.plan, task.at.step);
    }
    let wanted = parts.wanted();
    if !wanted.is_empty() {
        parts.load(session.payloads(&wanted).await?);
    }
    let claimed = |task: Taken| {
        let plan = &task.version.plan;
        let timeout = Duration::from_secs(plan.step(task.at.step).timeout.into());
        let (lease, flow) = (lease(&task), plan.slug().to_string());
        let input = match task.element {
            Some(element) => element,
            None => parts.input(task.at.run, plan, task.at.step),
        };
        ClaimedTask { lease, flow, input, timeout }
    };
    Ok(taken.into_iter().map(claimed).collect())
}

fn lease(task: &Taken) -> TaskLease {
    let step = task.version.plan.step(task.at.step).slug.to_string();
    let key = TaskKey { run: task.at.run, step, index: task.at.index };
    TaskLease { task: key, attempt: task.attempt }
}
