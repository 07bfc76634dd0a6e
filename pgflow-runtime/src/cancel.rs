//! Telling a handler that it should stop.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Says once, to everybody who has a copy, that work should stop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancel(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    is_set: AtomicBool,
    waiting: Mutex<Waiting>,
}

/// Who waits, each with a number of its own. Whoever stops waiting is forgotten: a waker keeps its whole task.
#[derive(Debug, Default)]
struct Waiting {
    next: u64,
    wakers: BTreeMap<u64, Waker>,
}

impl Cancel {
    /// Tells everybody.
    #[cfg(any(feature = "engine", test))]
    pub(crate) fn set(&self) {
        self.0.is_set.store(true, Ordering::Release);
        let wakers = std::mem::take(&mut self.lock().wakers);
        wakers.into_values().for_each(Waker::wake);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.is_set.load(Ordering::Acquire)
    }

    /// Ready once somebody said so.
    pub(crate) fn wait(&self) -> Cancelled {
        Cancelled { cancel: self.clone(), number: None }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ready once work should stop: see [`Context::cancelled`](crate::Context::cancelled).
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow] mod patient { use pgflow::prelude::*;
/// #[step]
/// async fn wait(ctx: Context) -> Result<()> {
///     let cancelled: pgflow::Cancelled = ctx.cancelled();
///     cancelled.await;
///     Ok(())
/// }
/// # }
/// ```
#[derive(Debug)]
#[must_use = "nothing is waited for without `.await`"]
pub struct Cancelled {
    cancel: Cancel,
    /// Among those who wait.
    number: Option<u64>,
}

impl Future for Cancelled {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let mut waiting = this.cancel.lock();
        // Looked at under the lock, so that no waker is left behind by `set`.
        if this.cancel.is_set() {
            return Poll::Ready(());
        }
        let number = *this.number.get_or_insert(waiting.next);
        waiting.next = waiting.next.max(number + 1);
        waiting.wakers.insert(number, context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Cancelled {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.cancel.lock().wakers.remove(&number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::block_on;

    #[test]
    fn wakes_who_waits_on_another_thread() {
        let cancel = Cancel::default();
        let waiting = std::thread::spawn({
            let cancel = cancel.clone();
            move || block_on(cancel.wait())
        });
        assert!(!cancel.is_set());
        cancel.set();
        waiting.join().expect("it was woken");
        block_on(cancel.wait());
    }

    /// A task that was spawned and has ended is not kept by what it waited for.
    #[test]
    fn whoever_stops_waiting_is_forgotten() {
        let (cancel, task) = (Cancel::default(), Arc::new(Task));
        for _ in 0..3 {
            let mut one = cancel.wait();
            let mut two = cancel.wait();
            let waker = Waker::from(task.clone());
            let mut context = Context::from_waker(&waker);
            for _ in 0..2 {
                assert!(Pin::new(&mut one).poll(&mut context).is_pending());
                assert!(Pin::new(&mut two).poll(&mut context).is_pending());
            }
            assert_eq!(cancel.lock().wakers.len(), 2);
        }
        assert_eq!(Arc::strong_count(&task), 1);
        cancel.set();
        block_on(cancel.wait());
    }

    struct Task;

    impl std::task::Wake for Task {
        fn wake(self: Arc<Self>) {}
    }
}
