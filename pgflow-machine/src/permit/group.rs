//! What was seen of messages that may be in one batch.

use super::plan::is_behind;
use super::{BatchRule, Place, Waiting};
use crate::Timestamp;
use crate::work::CLAIM_BYTES;

/// Messages of one key, in their order, as far as they were seen.
#[derive(Debug, Default)]
pub(super) struct Group {
    messages: Vec<Waiting>,
    /// So many of the last ones do not make a batch yet.
    open: usize,
    /// What those weigh.
    bytes: u64,
    /// Batches that are ripe with what was seen, whatever comes, and their bytes.
    ripe: (usize, u64),
    /// Nothing more of it is looked for.
    is_whole: bool,
}

impl Group {
    /// One more, unless nothing more of it is looked for: then it is there already, or of no account.
    pub(super) fn add(&mut self, waiting: Waiting, rule: &BatchRule) {
        if self.is_whole {
            return;
        }
        let most = most_bytes(rule);
        if self.open > 0 && self.bytes.saturating_add(waiting.bytes) > most {
            self.fill();
        }
        self.open += 1;
        self.bytes = self.bytes.saturating_add(waiting.bytes);
        self.messages.push(waiting);
        if self.open >= rule.len as usize || self.bytes >= most {
            self.fill();
        }
    }

    /// The last ones are a batch.
    fn fill(&mut self) {
        self.open = 0;
        let (ripe, bytes) = self.ripe;
        self.ripe = (ripe + 1, bytes.saturating_add(std::mem::take(&mut self.bytes)));
    }

    /// Forgets what is behind a place, or all of it.
    pub(super) fn keep_until(&mut self, place: Option<Place>, rule: &BatchRule) {
        let is_kept = |waiting: &Waiting| place.is_some_and(|it| !is_behind(waiting.place(), it));
        let kept = std::mem::take(self).messages.into_iter().filter(is_kept);
        kept.for_each(|waiting| self.add(waiting, rule));
    }

    /// Nothing more of it is looked for.
    pub(super) fn close(&mut self) {
        self.is_whole = true;
    }

    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Since when the oldest of those could be taken that do not make a batch yet, if there are some.
    pub(super) fn oldest_open(&self) -> Option<Timestamp> {
        let first = self.messages.len() - self.open;
        self.messages[first..].iter().map(|waiting| waiting.since).min()
    }

    /// Batches that are ripe whatever comes, and their bytes. The last one is short: it is ripe if it is due, and nothing more of it is
    /// looked for.
    pub(super) fn ripe(&self, is_due: impl Fn(Timestamp) -> bool) -> (usize, u64) {
        let (ripe, bytes) = self.ripe;
        if self.is_whole && self.oldest_open().is_some_and(is_due) {
            return (ripe + 1, bytes.saturating_add(self.bytes));
        }
        self.ripe
    }

    pub(super) fn into_messages(self) -> Vec<Waiting> {
        self.messages
    }
}

/// Bytes of a batch at most: no more than a claim hands out.
pub(super) fn most_bytes(rule: &BatchRule) -> u64 {
    rule.bytes.unwrap_or(u64::MAX).min(CLAIM_BYTES as u64)
}
