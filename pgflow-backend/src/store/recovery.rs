//! What keeps things going: lost tasks, claims whose answer got lost, what is old.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::{Lease, Settle, SettleBatch, Settled, Sweep, Verdict, Version, WorkerId};

use super::execute::{News, again, execute, tell};
use super::upkeep::ago;
use super::{Access, Session, Store, Stored, waits};
use crate::backend::{Source, Swept};

/// Tasks that one transaction looks at.
const BATCH: u32 = 1000;

pub(super) async fn sweep<S: Store>(store: &S) -> Stored<Swept> {
    store.beat().await;
    let mut swept = Swept::default();
    loop {
        let (requeued, is_whole) = again!(store, sweep_batch(store))?;
        swept.requeued += requeued;
        if is_whole {
            break;
        }
    }
    waits::wake(store, BATCH).await?;
    Ok(swept)
}

/// Sweeps up to a batch; says how many tasks were queued again, and whether that was all there is to do.
async fn sweep_batch<S: Store>(store: &S) -> Stored<(u64, bool)> {
    // Nearly always nothing is lost; then nobody is kept from writing.
    if store.begin(Access::Read).await?.lost(1).await?.is_empty() {
        return Ok((0, true));
    }
    let mut session = store.begin(Access::Write).await?;
    let lost = session.lost(BATCH).await?;
    let is_whole = lost.len() < BATCH as usize;
    let (requeued, news) = execute(&mut session, &Sweep { lost }).await?;
    store.commit(session).await?;
    // Should none of them have been lost after all, the next look would find the same.
    let is_stuck = news.flows.is_empty();
    tell(store, news).await;
    Ok((requeued, is_whole || is_stuck))
}

fn queues<S: Session>(session: &S, sources: &[Source]) -> Vec<Arc<Version>> {
    session.catalog().by_slugs(sources.iter().filter_map(Source::as_queue))
}

pub(super) async fn release_unknown<S: Store>(
    store: &S,
    worker: WorkerId,
    sources: &[Source],
    known: &[Lease],
) -> Stored<u64> {
    let mut session = store.begin(Access::Write).await?;
    let queues = queues(&session, sources);
    let held = session.held(worker, &queues).await?;
    let known: HashSet<_> = known.iter().filter_map(Lease::task).collect();
    let unknown = held.into_iter().filter(|lease| !known.contains(lease));
    let settles: Vec<_> =
        unknown.map(|lease| Settle { lease: lease.into(), verdict: Verdict::Released }).collect();
    let batch = SettleBatch { settles: &settles, limits: store.limits() };
    let (outcomes, news) = execute(&mut session, &batch).await?;
    store.commit(session).await?;
    tell(store, news).await;
    Ok(outcomes.iter().filter(|outcome| **outcome == Settled::Applied).count() as u64)
}

pub(super) async fn resume<S: Store>(store: &S, sources: &[Source]) -> Stored<u64> {
    let mut session = store.begin(Access::Write).await?;
    let queues = queues(&session, sources);
    let resumed = session.hasten(&queues).await?;
    store.commit(session).await?;
    if resumed > 0 {
        let flows = queues.iter().map(|version| version.slug().clone()).collect();
        tell(store, News { flows, ..News::default() }).await;
    }
    Ok(resumed)
}

pub(super) async fn prune<S: Store>(store: &S, older_than: Duration, max: u32) -> Stored<u64> {
    let mut session = store.begin(Access::Write).await?;
    let pruned = session.prune(ago(session.now(), older_than), max).await?;
    store.commit(session).await?;
    Ok(pruned)
}
