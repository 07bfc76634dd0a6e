//! When a batch is ripe.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{PermitProblem, Waiting};
use crate::Timestamp;
use crate::status::words;

/// What a batch is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchRule {
    /// Messages at most; with so many it is ripe.
    pub len: u32,
    /// Bytes of payload at most, if there is a limit: with so many it is ripe. A larger message is a batch of its own.
    pub bytes: Option<u64>,
    /// So long after its oldest message became ready it is ripe, whatever is in it.
    pub wait: Duration,
}

impl BatchRule {
    /// Messages of a batch at most: as many as a claim looks at, since it is full only if one claim sees all of it.
    pub const MOST: u32 = 10_000;

    /// Whether it makes sense.
    pub fn check(&self) -> Result<(), PermitProblem> {
        if self.len == 0 {
            return Err(PermitProblem::EmptyBatch);
        }
        if self.len > Self::MOST {
            return Err(PermitProblem::LongBatch(self.len));
        }
        if self.bytes == Some(0) {
            return Err(PermitProblem::NoBytes);
        }
        Ok(())
    }
}

words! {
    /// Why a batch is ripe. The first that fits counts.
    Trigger {
        /// It has as many messages as it may.
        Size = "size",
        /// It has as many bytes as it may.
        Bytes = "bytes",
        /// Its oldest message has waited long enough.
        Timeout = "timeout",
        /// Whoever asks is about to leave, and takes what is there.
        Drain = "drain",
    }
}

/// What became of a group of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formed {
    /// Its first messages are a batch.
    Ripe {
        /// So many.
        messages: usize,
        /// Why.
        trigger: Trigger,
    },
    /// Not before this moment, unless more come.
    Later(Timestamp),
    /// There are none.
    Nothing,
}

/// Whether the first of these messages of one group, in their order, are a batch.
pub fn form(rule: &BatchRule, group: &[Waiting], now: Timestamp, drains: bool) -> Formed {
    let Some(oldest) = group.iter().map(|waiting| waiting.since).min() else {
        return Formed::Nothing;
    };
    let (messages, is_heavy) = fitting(rule, group);
    let ripe = |trigger| Formed::Ripe { messages, trigger };
    if messages >= rule.len as usize {
        ripe(Trigger::Size)
    } else if is_heavy {
        ripe(Trigger::Bytes)
    } else if oldest + rule.wait <= now {
        ripe(Trigger::Timeout)
    } else if drains {
        ripe(Trigger::Drain)
    } else {
        Formed::Later(oldest + rule.wait)
    }
}

/// How many messages fit, at least one, and whether their bytes leave no room for the next.
fn fitting(rule: &BatchRule, group: &[Waiting]) -> (usize, bool) {
    let most = rule.bytes.unwrap_or(u64::MAX);
    let mut bytes = 0_u64;
    for (at, waiting) in group.iter().take(rule.len as usize).enumerate() {
        let more = bytes.saturating_add(waiting.bytes);
        if at > 0 && more > most {
            return (at, true);
        }
        bytes = more;
    }
    (group.len().min(rule.len as usize), bytes >= most)
}
