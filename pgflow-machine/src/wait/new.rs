//! What an attempt may wait for.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::HookToken;
use crate::job::{Moment, NewJob};
use crate::status::words;
use crate::{CompiledFor, Timestamp, whole_seconds};

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
