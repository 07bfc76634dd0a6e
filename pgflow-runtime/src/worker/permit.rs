//! How many of something are in use.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many are in use. Clones share the number.
#[derive(Clone, Debug, Default)]
pub(crate) struct InUse(Arc<AtomicUsize>);

impl InUse {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// One more, until the permit is dropped.
    pub(crate) fn take(&self) -> Permit {
        self.0.fetch_add(1, Ordering::Relaxed);
        Permit(self.clone())
    }
}

/// A drop guard: counts as one in use until it is dropped.
#[derive(Debug)]
pub(crate) struct Permit(InUse);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}
