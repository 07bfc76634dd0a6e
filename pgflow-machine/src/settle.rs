//! What a worker says about the tasks it holds, and what it is told.

use std::time::Duration;

use serde_json::Value;

use crate::RunId;

/// Identifies a task. Batches are settled in this order, which keeps transactions from deadlocks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskKey {
    /// Its run.
    pub run: RunId,
    /// Slug of its step, as the run's version of the flow spells it.
    pub step: String,
    /// Which element of a map it is for; 0 for a single step.
    pub index: u32,
}

/// A claimed task. `attempt` is the fence: a later claim has a higher one, and then nothing that is
/// said with this one changes anything.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lease {
    /// The task.
    pub task: TaskKey,
    /// Which claim of it this is, from 1. Numbers are never used twice.
    pub attempt: u32,
}

/// The end of an attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct Settle {
    /// The attempt.
    pub lease: Lease,
    /// How it ended.
    pub verdict: Verdict,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// With an output.
    Completed(Value),
    /// With an error.
    Failed {
        /// What went wrong.
        error: String,
        /// Whether it is tried again.
        retry: Retry,
    },
    /// It was given up without fault, as when a worker stops: the task is queued again at once, and
    /// the attempt does not count towards `max_attempts`.
    Released,
}

/// Whether a failed task is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// While attempts are left, after the delay that the step's options say.
    ByPolicy,
    /// While attempts are left, after this delay, rounded up to a second.
    After(Duration),
    /// No: the attempts count as used up, and `when_exhausted` decides.
    Never,
}

/// What became of a [`Settle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// It took effect.
    Applied,
    /// A newer attempt has the task, or it is queued again.
    Fenced,
    /// This attempt was settled before: what a call whose answer got lost finds.
    AlreadySettled,
    /// The run has failed or was cancelled.
    RunEnded,
    /// There is no such task.
    Unknown,
}

/// What became of a heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beat {
    /// The lease lasts longer now.
    Extended,
    /// Another attempt has the task, or it is over.
    Lost,
    /// The run has failed or was cancelled: stop.
    Cancelled,
}

/// Makes an enum readable from the words of SQL.
macro_rules! from_word {
    ($name:ident { $($word:literal => $variant:ident,)+ }) => {
        impl $name {
            /// From the spelling in databases.
            pub fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

from_word!(Settled {
    "applied" => Applied,
    "fenced" => Fenced,
    "already_settled" => AlreadySettled,
    "run_ended" => RunEnded,
    "unknown" => Unknown,
});
from_word!(Beat {
    "extended" => Extended,
    "lost" => Lost,
    "cancelled" => Cancelled,
});
