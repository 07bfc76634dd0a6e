//! Whether a handler blocks its thread.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Shows from another thread what a handler is doing. Clones share everything.
#[derive(Clone, Debug)]
pub(crate) struct Pulse(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// When the task was made.
    origin: Instant,
    /// Since when the handler's code runs without waiting for anything, in microseconds after the origin and one; 0
    /// while it waits.
    polled: AtomicU64,
    /// When its time began to run, in the same way; 0 before that.
    began: AtomicU64,
    has_begun: AtomicBool,
    /// The longest time that its code ran without waiting, in microseconds.
    longest: AtomicU64,
}

impl Default for Pulse {
    fn default() -> Self {
        let (polled, began) = (AtomicU64::new(0), AtomicU64::new(0));
        let (has_begun, longest) = (AtomicBool::new(false), AtomicU64::new(0));
        Self(Arc::new(Inner { origin: Instant::now(), polled, began, has_begun, longest }))
    }
}

impl Pulse {
    /// Does some work, visibly.
    pub(crate) async fn watch<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        std::future::poll_fn(|context| {
            let _polled = Polled::new(&self.0);
            work.as_mut().poll(context)
        })
        .await
    }

    /// The handler's time runs from now on.
    pub(crate) fn begin(&self) {
        self.0.began.store(self.0.now(), Ordering::Relaxed);
    }

    /// Whether any of its code has run.
    pub(super) fn has_begun(&self) -> bool {
        self.0.has_begun.load(Ordering::Relaxed)
    }

    /// For how long the handler has kept its thread without giving it back.
    pub(super) fn blocked_for(&self) -> Option<Duration> {
        self.0.since(&self.0.polled)
    }

    /// For how long it did so at most.
    pub(super) fn longest(&self) -> Duration {
        let longest = Duration::from_micros(self.0.longest.load(Ordering::Relaxed));
        longest.max(self.blocked_for().unwrap_or_default())
    }

    /// For how long the handler has run.
    pub(super) fn running_for(&self) -> Option<Duration> {
        self.0.since(&self.0.began)
    }
}

impl Inner {
    fn now(&self) -> u64 {
        u64::try_from(self.origin.elapsed().as_micros()).unwrap_or(u64::MAX).saturating_add(1)
    }

    fn since(&self, moment: &AtomicU64) -> Option<Duration> {
        let moment = Some(moment.load(Ordering::Relaxed)).filter(|moment| *moment > 0)?;
        Some(Duration::from_micros(self.now().saturating_sub(moment)))
    }
}

/// The handler's code runs until this is dropped.
struct Polled<'a>(&'a Inner);

impl<'a> Polled<'a> {
    fn new(inner: &'a Inner) -> Self {
        inner.polled.store(inner.now(), Ordering::Relaxed);
        inner.has_begun.store(true, Ordering::Relaxed);
        Self(inner)
    }
}

impl Drop for Polled<'_> {
    fn drop(&mut self) {
        let since = self.0.polled.swap(0, Ordering::Relaxed);
        self.0.longest.fetch_max(self.0.now().saturating_sub(since), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_code_that_does_not_wait_blocks() {
        let pulse = Pulse::default();
        assert_eq!((pulse.blocked_for(), pulse.running_for()), (None, None));
        assert!(!pulse.has_begun());
        let work = async {
            pulse.begin();
            std::thread::sleep(Duration::from_millis(20));
            let blocked = pulse.blocked_for();
            tokio::task::yield_now().await;
            (blocked, pulse.blocked_for())
        };
        let (before, after) = pulse.watch(work).await;
        assert!(before >= Some(Duration::from_millis(20)), "{before:?}");
        assert!(after < before, "it waited meanwhile");
        assert!(pulse.blocked_for().is_none() && pulse.has_begun());
        assert!(pulse.longest() >= Duration::from_millis(20));
        assert!(pulse.running_for() >= Some(Duration::from_millis(20)));
    }
}
