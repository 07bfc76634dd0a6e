//! Telling a handler that it should stop.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// Says once, to everybody who has a copy, that work should stop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancel(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    is_set: AtomicBool,
    waiting: Mutex<Vec<Waker>>,
}

impl Cancel {
    /// Tells everybody.
    #[cfg(any(feature = "engine", test))]
    pub(crate) fn set(&self) {
        self.0.is_set.store(true, Ordering::Release);
        let mut waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.drain(..).for_each(Waker::wake);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.is_set.load(Ordering::Acquire)
    }

    /// Ready once somebody said so.
    pub(crate) fn wait(&self) -> Cancelled {
        Cancelled(self.clone())
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
pub struct Cancelled(Cancel);

impl Future for Cancelled {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let inner = &self.0.0;
        let mut waiting = inner.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        // Looked at under the lock, so that no waker is left behind by `set`.
        if self.0.is_set() {
            return Poll::Ready(());
        }
        if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
            waiting.push(context.waker().clone());
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::Cancel;
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
}
