//! What an attempt may wait for.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::HookToken;
use crate::job::{Moment, NewJob};
use crate::status::words;
use crate::{CompiledFor, Timestamp, payload_bytes, whole_seconds};

/// Runs or jobs that one attempt can wait for: they start in one transaction, which holds up others.
pub const CHILDREN_AT_MOST: usize = 10_000;

/// What these may be given together, in bytes of JSON.
pub const CHILD_BYTES: usize = 64_000_000;

/// More than an attempt can wait for.
///
/// ```
/// use pgflow_machine::wait::TooMuch;
///
/// assert_eq!(TooMuch::Children(10_001).to_string(), "a task can wait for 10000 runs or jobs at most, not 10001");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooMuch {
    /// So many runs or jobs.
    #[error("a task can wait for {CHILDREN_AT_MOST} runs or jobs at most, not {0}")]
    Children(usize),
    /// What they are given has so many bytes.
    #[error(
        "the runs or jobs that a task waits for are given {0} bytes together, and the limit is {CHILD_BYTES}"
    )]
    Bytes(usize),
}

/// What an attempt ends with that waits.
///
/// ```
/// use pgflow_machine::wait::{Awaited, HookToken, NewWait};
/// use std::time::Duration;
///
/// let approval = HookToken::named("order-42-approval")?;
/// let wait = NewWait { timeout: Some(Duration::from_secs(60)), ..NewWait::on(Awaited::Hook(approval)) };
/// assert!(!wait.detached);
/// # Ok::<(), pgflow_machine::wait::InvalidToken>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NewWait {
    /// What for.
    pub on: Awaited,
    /// How long at most, by the database's clock, rounded up to a second; a sleep has none.
    pub timeout: Option<Duration>,
    /// A JSON Schema that the output has to fit: the payload of a signal, or what children put out.
    pub schema: Option<Value>,
    /// How children ended is the output, also if that is not well; otherwise that fails the attempt.
    pub outcomes: bool,
    /// Children go on when nobody waits for them any more; otherwise they are cancelled.
    pub detached: bool,
}

impl NewWait {
    /// For this, for ever.
    pub fn on(on: Awaited) -> Self {
        Self { on, timeout: None, schema: None, outcomes: false, detached: false }
    }

    /// Whether it is more than an attempt can wait for.
    pub fn check(&self) -> Result<(), TooMuch> {
        let sizes: Vec<_> = match &self.on {
            Awaited::Runs { children, .. } => {
                children.iter().map(|child| payload_bytes(&child.input)).collect()
            }
            Awaited::Jobs { jobs, .. } => {
                jobs.iter().map(|job| payload_bytes(&job.payload)).collect()
            }
            Awaited::Hook(_) | Awaited::Sleep(_) => return Ok(()),
        };
        if sizes.len() > CHILDREN_AT_MOST {
            return Err(TooMuch::Children(sizes.len()));
        }
        let bytes = sizes.iter().sum();
        if bytes > CHILD_BYTES { Err(TooMuch::Bytes(bytes)) } else { Ok(()) }
    }

    /// Until when at most, if it begins now; for a sleep, when it ends.
    pub fn until(&self, now: Timestamp) -> Option<Timestamp> {
        let seconds = |timeout| Duration::from_secs(whole_seconds(timeout).into());
        match self.on {
            Awaited::Sleep(moment) => Some(moment.resolve(now)),
            _ => self.timeout.map(|timeout| now + seconds(timeout)),
        }
    }
}

/// What is waited for.
#[derive(Clone, Debug, PartialEq)]
pub enum Awaited {
    /// A signal: its payload is the output.
    Hook(HookToken),
    /// A moment: the output is null.
    Sleep(Moment),
    /// The ends of runs, which are started with the wait.
    Runs {
        /// The runs.
        children: Vec<NewChild>,
        /// The output is an array with an element per child; otherwise what the only one put out.
        each: bool,
    },
    /// The ends of jobs, which are submitted with the wait.
    Jobs {
        /// The jobs.
        jobs: Vec<NewJob>,
        /// The output is an array with an element per child; otherwise what the only one put out.
        each: bool,
    },
}

impl Awaited {
    /// What kind of thing that is.
    pub const fn kind(&self) -> WaitKind {
        match self {
            Self::Hook(_) => WaitKind::Hook,
            Self::Sleep(_) => WaitKind::Sleep,
            Self::Runs { .. } => WaitKind::Runs,
            Self::Jobs { .. } => WaitKind::Jobs,
        }
    }

    /// The token, if it is a hook.
    pub const fn token(&self) -> Option<&HookToken> {
        match self {
            Self::Hook(token) => Some(token),
            _ => None,
        }
    }

    /// The output is an array with an element per child.
    pub const fn each(&self) -> bool {
        matches!(self, Self::Runs { each: true, .. } | Self::Jobs { each: true, .. })
    }
}

/// A run to start and wait for. Its id is made when it is started: a retry starts another one.
#[derive(Clone, Debug, PartialEq)]
pub struct NewChild {
    /// Name of the flow.
    pub flow: String,
    /// What the program was compiled for, as of [`NewRun`](crate::NewRun::compiled_for).
    pub compiled_for: Option<Arc<CompiledFor>>,
    /// What it is given.
    pub input: Value,
}

words! {
    /// What kind of thing a task waits for.
    WaitKind {
        /// A signal.
        Hook = "hook",
        /// A moment.
        Sleep = "sleep",
        /// The ends of runs.
        Runs = "runs",
        /// The ends of jobs.
        Jobs = "jobs",
    }
}
