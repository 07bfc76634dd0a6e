//! Whether workers serve what waits.

use std::collections::BTreeSet;
use std::time::Duration;

use pgflow_runtime::backend::{Checkup, QueueDepth, Severity, WorkerRecord};
use pgflow_runtime::{Db, Timestamp};

use super::{LATE, UNSERVED, jobs};
use crate::database::spoken;
use crate::error::Error;

/// A worker that is lost is named for so long, and as long as it has something.
const REMEMBERED: Duration = Duration::from_mins(90);

/// Workers that are there, or should be.
pub(super) async fn workers(
    db: &Db,
    now: Timestamp,
    checkup: &mut Checkup,
) -> Result<Vec<WorkerRecord>, Error> {
    let workers = db.all_workers().await?;
    let alive: Vec<_> = workers.iter().filter(|worker| worker.is_alive(now)).collect();
    checkup.fact("workers", alive.len());
    checkup.fact("served", served(&alive));
    // Whose tasks were all taken back is of no interest to anybody after a while.
    let is_worth_it = |worker: &&WorkerRecord| {
        worker.is_lost(now)
            && (worker.running > 0 || worker.seen_at.saturating_until(now) < REMEMBERED)
    };
    for worker in workers.iter().filter(is_worth_it) {
        let silence = spoken(worker.seen_at.saturating_until(now));
        let host = worker.host.as_deref().unwrap_or("an unknown host");
        checkup.find(
            "lost-worker",
            Severity::Warning,
            format!(
                "worker {} on {host} has been silent for {silence} and did not sign off",
                worker.id.0
            ),
            "see why it ended; its tasks are taken back by the others",
        );
    }
    Ok(workers)
}

/// Whether tasks wait for workers. Nobody knows that if these may not be seen.
pub(super) async fn queues(
    db: &Db,
    alive: Option<&[&WorkerRecord]>,
    checkup: &mut Checkup,
) -> Result<(), Error> {
    let queues = db.queues().await?;
    if let Some(oldest) = queues.iter().filter_map(|queue| queue.oldest_ready).max() {
        checkup.fact("oldest_ready_task", spoken(oldest));
    }
    for queue in queues {
        let (Some(alive), Some(age)) = (alive, queue.oldest_ready) else { continue };
        let serving: Vec<_> =
            alive.iter().filter(|worker| worker.queues.contains(&queue.slug)).collect();
        if serving.is_empty() && age > UNSERVED {
            checkup.find(
                "no-worker",
                Severity::Error,
                format!(
                    "{} tasks of `{}` have waited for {}, and no worker serves it",
                    queue.ready,
                    queue.slug,
                    spoken(age)
                ),
                format!("start a worker that has code for `{}`, or cancel its runs", queue.slug),
            );
        } else if !serving.is_empty() && age > LATE {
            let has_room =
                serving.iter().any(|worker| worker.slots.is_none_or(|it| worker.running < it));
            late(db, &queue, (age, has_room), checkup).await?;
        }
    }
    Ok(())
}

/// What a rate or a resource keeps is where it should be, and more workers would not help it. Where steps have some, the oldest
/// task may be kept by one: then workers that serve the queue have room.
async fn late(
    db: &Db,
    queue: &QueueDepth,
    (age, has_room): (Duration, bool),
    checkup: &mut Checkup,
) -> Result<(), Error> {
    let limited = db.why_steps(&queue.slug).await?;
    if limited.is_empty() || !has_room {
        checkup.find(
            "late",
            Severity::Warning,
            format!("the oldest ready task of `{}` has waited for {}", queue.slug, spoken(age)),
            "start more workers, or give them more slots",
        );
    }
    let now = db.now().await?;
    let kept = limited.into_iter().filter_map(|(step, reason)| Some((step, reason?)));
    for (step, reason) in kept.filter(|(_, reason)| reason.needs_somebody()) {
        let what = format!(
            "{} tasks of `{}` wait, the first for {}, and none of step `{step}` is taken: {}",
            queue.ready,
            queue.slug,
            spoken(age),
            reason.sentence(now)
        );
        checkup.find("blocked", Severity::Warning, what, jobs::unblocking(&reason));
    }
    Ok(())
}

/// Versions of flows, and needs of jobs, that somebody is there for.
fn served(alive: &[&WorkerRecord]) -> String {
    let of = |worker: &&WorkerRecord| {
        let flows: Vec<_> = worker.flows().map(ToOwned::to_owned).collect();
        flows.into_iter().chain(worker.needs().map(Into::into)).collect::<Vec<String>>()
    };
    let all: BTreeSet<_> = alive.iter().flat_map(of).collect();
    if all.is_empty() { "nothing".to_owned() } else { Vec::from_iter(all).join(", ") }
}
