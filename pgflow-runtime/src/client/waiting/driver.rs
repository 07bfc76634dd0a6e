//! The task that looks for all.

use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::RunId;
use tokio::time::{Instant, sleep_until};

use super::Waiting;
use super::hinted::Hinted;
use crate::backend::{Backend, Reply, RunSummary};
use crate::client::patience::ask;

/// Looks again at everything after this time, whatever hints there were.
const FALLBACK: Duration = Duration::from_secs(1);
/// Never looks more often than this, however many hints there are.
const PAUSE: Duration = Duration::from_millis(10);
/// Between looks it waits for so many times as long as they take: waiting costs the database little.
const RARELY: u32 = 8;
/// Runs in one statement.
const MOST: usize = 1_000;

/// Looks until there are no waiters.
pub(super) async fn drive(waiting: Arc<Waiting>, backend: Arc<dyn Backend>) {
    let mut stopped = Stopped(Some(&waiting));
    // Before the first look, so that no hint after it is missed.
    let mut wakes = backend.wakes();
    let (mut hinted, mut flows) = (Hinted::default(), waiting.flows());
    let (mut pause, mut looked, mut looked_at_all) = (PAUSE, Instant::now(), Instant::now());
    loop {
        let all_due = looked_at_all + FALLBACK;
        let due = if hinted.is_empty() { all_due } else { all_due.min(looked + pause) };
        tokio::select! {
            () = waiting.news.notified() => look(&waiting, &backend, waiting.fresh()).await,
            wake = wakes.next() => {
                hinted.add(wake, &flows);
                continue;
            }
            () = sleep_until(due) => {
                let began = Instant::now();
                if began >= all_due {
                    (hinted, looked_at_all) = (Hinted::all(), began);
                }
                look(&waiting, &backend, waiting.hinted(&std::mem::take(&mut hinted))).await;
                looked = Instant::now();
                pause = PAUSE.max((looked - began) * RARELY);
            }
        }
        flows = waiting.flows();
        if waiting.is_over() {
            stopped.0 = None;
            return;
        }
    }
}

async fn look(waiting: &Waiting, backend: &Arc<dyn Backend>, runs: Vec<RunId>) {
    for asked in runs.chunks(MOST) {
        let found = ask(Arc::clone(backend), |backend| statuses(backend, asked.to_vec())).await;
        waiting.tell(asked, found);
    }
}

pub(in crate::client) fn statuses(
    backend: &dyn Backend,
    runs: Vec<RunId>,
) -> Reply<'_, Vec<RunSummary>> {
    Box::pin(async move { backend.statuses(&runs).await })
}

/// Dropped with its runtime, the task leaves its work to the next waiter: waiters ask again.
struct Stopped<'a>(Option<&'a Waiting>);

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        if let Some(waiting) = self.0 {
            *waiting.lock() = super::State::default();
        }
    }
}
