//! What is wrong with the connections at the moment.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::sync::watch;

use super::Cut;

/// What is wrong with all connections of a proxy.
#[derive(Debug)]
pub(super) struct Faults {
    cut: Mutex<Option<Cut>>,
    /// Statements that were meant.
    seen: AtomicU32,
    /// Answers that were cut.
    pub(super) cuts: AtomicU32,
    /// How often everything was reset.
    pub(super) resets: watch::Sender<u32>,
    /// Nobody gets through.
    pub(super) is_shut: AtomicBool,
    /// Bytes of the largest message of a client.
    pub(super) largest: AtomicUsize,
    /// Bytes of all answers.
    pub(super) answered: AtomicUsize,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            cut: Mutex::default(),
            seen: AtomicU32::default(),
            cuts: AtomicU32::default(),
            resets: watch::channel(0).0,
            is_shut: AtomicBool::default(),
            largest: AtomicUsize::default(),
            answered: AtomicUsize::default(),
        }
    }
}

impl Faults {
    pub(super) fn set(&self, cut: Option<Cut>) {
        self.seen.store(0, Ordering::Relaxed);
        *self.lock() = cut;
    }

    pub(super) fn is_meant(&self, sql: &str) -> bool {
        self.lock().as_ref().is_some_and(|cut| sql.contains(cut.statement))
    }

    pub(super) fn is_its_turn(&self) -> bool {
        let cut = self.lock().clone();
        cut.is_some_and(|cut| {
            let seen = self.seen.fetch_add(1, Ordering::Relaxed) + 1;
            seen.is_multiple_of(cut.every.max(1))
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Cut>> {
        self.cut.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
