//! The task that looks for all.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::hinted::Hinted;
use super::{Awaited, Waiting};
use crate::backend::Backend;
use crate::client::patience::ask;

/// Looks again at everything after this time, whatever hints there were.
pub(super) const FALLBACK: Duration = Duration::from_secs(1);
/// Never looks more often than this, however many hints there are.
const PAUSE: Duration = Duration::from_millis(10);
/// Between looks it waits for so many times as long as they take: waiting costs the database little.
const RARELY: u32 = 8;
/// So many in one statement.
const MOST: usize = 1_000;

/// Looks until there are no waiters.
pub(super) async fn drive<A: Awaited>(waiting: Arc<Waiting<A>>, backend: Arc<dyn Backend>) {
    let mut stopped = Stopped(Some(&waiting));
    // Before the first look, so that no hint after it is missed.
    let mut wakes = backend.wakes();
    let (mut hinted, mut topics) = (Hinted::default(), waiting.topics());
    let (mut pause, mut looked, mut looked_at_all) = (PAUSE, Instant::now(), Instant::now());
    let mut fallback = A::FIRST_LOOK;
    loop {
        let all_due = looked_at_all + fallback;
        let due = if hinted.is_empty() { all_due } else { all_due.min(looked + pause) };
        tokio::select! {
            () = waiting.news.notified() => {
                look(&waiting, &backend, waiting.fresh()).await;
                fallback = A::FIRST_LOOK;
            }
            wake = wakes.next() => {
                hinted.add(wake, &topics);
                continue;
            }
            () = sleep_until(due) => {
                let began = Instant::now();
                if began >= all_due {
                    (hinted, looked_at_all) = (Hinted::all(), began);
                    fallback = (fallback * 2).min(FALLBACK);
                }
                look(&waiting, &backend, waiting.hinted(&std::mem::take(&mut hinted))).await;
                looked = Instant::now();
                pause = PAUSE.max((looked - began) * RARELY);
                fallback = fallback.max(pause).min(FALLBACK);
            }
        }
        topics = waiting.topics();
        if waiting.is_over() {
            stopped.0 = None;
            return;
        }
    }
}

async fn look<A: Awaited>(waiting: &Waiting<A>, backend: &Arc<dyn Backend>, ids: Vec<A::Id>) {
    for asked in ids.chunks(MOST) {
        let found = ask(Arc::clone(backend), |backend| A::look(backend, asked.to_vec())).await;
        waiting.tell(asked, found);
    }
}

/// Dropped with its runtime, the task leaves its work to the next waiter: waiters ask again.
struct Stopped<'a, A: Awaited>(Option<&'a Waiting<A>>);

impl<A: Awaited> Drop for Stopped<'_, A> {
    fn drop(&mut self) {
        if let Some(waiting) = self.0 {
            *waiting.lock() = super::State::default();
        }
    }
}
