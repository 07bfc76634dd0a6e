//! What a function of a pipeline knows about its attempt.

use std::collections::BTreeMap;

use crate::backend::ClaimedBatch;
use crate::cancel::{Cancel, Cancelled};

/// Handed to every function of a pipeline.
///
/// ```
/// use pgflow::pipeline::MessageContext;
///
/// let ctx = MessageContext::for_test();
/// assert_eq!((ctx.attempt(), ctx.fence("gpu")), (1, None));
/// ```
#[derive(Clone, Debug)]
pub struct MessageContext {
    pub(super) attempt: u32,
    pub(super) batch: String,
    pub(super) fences: BTreeMap<String, u64>,
    pub(super) cancel: Cancel,
}

impl MessageContext {
    /// A context to call a function with in a unit test.
    pub fn for_test() -> Self {
        let (batch, cancel) = ("test".to_owned(), Cancel::default());
        Self { attempt: 1, batch, fences: BTreeMap::new(), cancel }
    }

    /// Of what was claimed for one attempt.
    pub(crate) fn of(claimed: &ClaimedBatch) -> Self {
        Self {
            attempt: claimed.messages.first().map_or(1, |first| first.taken.row.attempts),
            batch: claimed.lease.batch.clone(),
            fences: claimed.fences.clone(),
            cancel: Cancel::default(),
        }
    }

    /// Which claim of the message this is, from 1; of a batch, of its first one.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// What tells this attempt from all others.
    pub fn batch_id(&self) -> &str {
        &self.batch
    }

    /// The number of the grant of a resource that this attempt holds: every grant has a greater one, so a lower number
    /// after a greater one is of an attempt whose time is over.
    pub fn fence(&self, resource: &str) -> Option<u64> {
        self.fences.get(resource).copied()
    }

    /// Whether this attempt should stop: others have its messages, or the worker shuts down.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_set()
    }

    /// Ready once this attempt [should stop](Self::is_cancelled).
    pub fn cancelled(&self) -> Cancelled {
        self.cancel.wait()
    }
}
