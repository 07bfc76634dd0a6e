//! What a worker says about the tasks it holds, and what it is told.

use std::time::Duration;

use serde_json::Value;

use crate::RunId;
use crate::job::{JobEnd, JobHold};
use crate::permit::{MessageEnd, MessageLease};
use crate::wait::NewWait;

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

/// The right to work on something, until it is settled or lost. Each kind of work has a fence of its own: when another
/// claim has the work, nothing that is said with an older lease changes anything.
///
/// ```
/// use pgflow_machine::{Lease, RunId, TaskKey, TaskLease};
///
/// let task = TaskKey { run: RunId::from_key("orders", "7"), step: "pay".into(), index: 0 };
/// let lease = Lease::from(TaskLease { task, attempt: 1 });
/// assert_eq!(lease.task().map(|lease| lease.attempt), Some(1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lease {
    /// Of a task of a flow.
    Task(TaskLease),
    /// Of a job.
    Job {
        /// The job and its token.
        hold: JobHold,
        /// How long a beat extends it.
        lasts: Duration,
    },
    /// Of messages that were claimed together.
    Messages(MessageLease),
}

impl Lease {
    /// If it is of a task.
    pub fn task(&self) -> Option<&TaskLease> {
        match self {
            Self::Task(lease) => Some(lease),
            Self::Job { .. } | Self::Messages(_) => None,
        }
    }

    /// If it is of a job.
    pub fn job(&self) -> Option<&JobHold> {
        match self {
            Self::Job { hold, .. } => Some(hold),
            Self::Task(_) | Self::Messages(_) => None,
        }
    }
}

impl From<TaskLease> for Lease {
    fn from(lease: TaskLease) -> Self {
        Self::Task(lease)
    }
}

/// A claimed task. `attempt` is the fence: a later claim has a higher one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskLease {
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
    /// Not now: nothing is wrong with the task. It is queued again when a delay is over, says why for as long as it waits, and
    /// the attempt does not count towards `max_attempts`; or it [waits](Until::Met), and the attempt counts.
    Yielded {
        /// When it is tried again.
        until: Until,
        /// What it waits for.
        reason: String,
    },
    /// Of a job, in the words that jobs have for it.
    Job(Box<JobEnd>),
    /// Of messages that were claimed together, in their order.
    Messages(Vec<MessageEnd>),
}

/// What work waits for that was [yielded](Verdict::Yielded).
#[derive(Clone, Debug, PartialEq)]
pub enum Until {
    /// The end of a delay, by the database's clock, rounded up to a second.
    After(Duration),
    /// Something that completes the task from outside, or fails the attempt.
    Met(Box<NewWait>),
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
