//! What handlers tell the benchmark: that they ran, and when.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

/// Shared with every handler.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// Last steps (or tasks of the map) that have not ended yet.
    left: AtomicU32,
    all_ended: Notify,
    /// Kept only where times are wanted.
    calls: Option<Mutex<Vec<Call>>>,
    entered: Notify,
}

/// When a handler ran.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    pub(crate) entered: Instant,
    pub(crate) left: Instant,
}

impl Tally {
    /// Waits for so many last steps.
    pub(crate) fn of(lasts: u32) -> Self {
        Self(Arc::new(Inner { left: AtomicU32::new(lasts), ..Inner::default() }))
    }

    /// Also keeps times.
    pub(crate) fn with_times() -> Self {
        Self(Arc::new(Inner { calls: Some(Mutex::default()), ..Inner::default() }))
    }

    /// A handler begins.
    pub(super) fn enter(&self) -> Option<Instant> {
        self.0.calls.as_ref().map(|_| Instant::now())
    }

    /// A handler is about to end.
    pub(super) fn leave(&self, entered: Option<Instant>) {
        if let Some((calls, entered)) = self.0.calls.as_ref().zip(entered) {
            let call = Call { entered, left: Instant::now() };
            calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
            self.0.entered.notify_one();
        }
    }

    /// The handler of a last step is about to end.
    pub(super) fn last(&self, entered: Option<Instant>) {
        self.leave(entered);
        // More may end than somebody waits for.
        let less = |left: u32| left.checked_sub(1);
        let count = || self.0.left.fetch_update(Ordering::AcqRel, Ordering::Acquire, less);
        if self.0.calls.is_none() && count() == Ok(1) {
            self.0.all_ended.notify_one();
        }
    }

    pub(crate) fn left(&self) -> u32 {
        self.0.left.load(Ordering::Acquire)
    }

    /// Ready when all last steps ran.
    pub(crate) async fn all_ended(&self) {
        while self.left() > 0 {
            self.0.all_ended.notified().await;
        }
    }

    /// The next calls, so many, in their order.
    pub(crate) async fn calls(&self, count: usize) -> Vec<Call> {
        loop {
            let seen = self.taken(count);
            if !seen.is_empty() {
                return seen;
            }
            self.0.entered.notified().await;
        }
    }

    fn taken(&self, count: usize) -> Vec<Call> {
        let Some(calls) = &self.0.calls else { return Vec::new() };
        let mut calls = calls.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.len() < count { Vec::new() } else { calls.drain(..count).collect() }
    }
}
