//! What is sent to a hook.

use std::time::Duration;

use serde_json::Value;

use super::HookToken;
use crate::{PayloadError, TaskKey};

/// How long a signal is kept that nobody waits for yet, unless it says otherwise.
pub const BUFFER_FOR: Duration = Duration::from_hours(7 * 24);

/// Signals that are kept for one token or task at a time.
pub const KEPT_AT_MOST: usize = 100;

/// Bytes that a resume id may have.
pub const MAX_RESUME_ID: usize = 200;

/// Something that happened, for a task that waits for it, or will.
///
/// ```
/// use pgflow_machine::wait::{HookToken, Signal, SignalTo};
///
/// let token = HookToken::named("order-42-approval")?;
/// let signal = Signal::new(SignalTo::Token(token), true).resume_id("mail-7");
/// assert!(signal.check(&pgflow_machine::Limits::default()).is_ok());
/// # Ok::<(), pgflow_machine::wait::InvalidToken>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// Where to.
    pub to: SignalTo,
    /// Of those to the same place with the same one, one is delivered, and those that say something else are refused; without it, this is another one than all others.
    pub resume_id: Option<String>,
    /// What it says: the output of the task.
    pub payload: Value,
    /// How long it is kept if nobody waits yet.
    pub buffer_for: Duration,
}

/// Where a signal goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignalTo {
    /// To the hook of this token.
    Token(HookToken),
    /// To the hook that this task waits for.
    Task(TaskKey),
}

/// What became of a signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signalled {
    /// It completed this task.
    Delivered(TaskKey),
    /// This one was delivered or is kept: one with the same resume id.
    Duplicate,
    /// One with the same resume id, and another payload, was delivered or is kept. This one changed nothing.
    Conflict,
    /// Nobody waits yet: it is kept.
    Buffered,
    /// It is not what is waited for; the wait goes on.
    Rejected {
        /// Where in the payload, like `/lines/3/price`; empty if it is all of it.
        path: String,
        /// What is wrong there.
        message: String,
    },
    /// Nobody waits, and nobody will.
    Gone,
}

/// Why a signal can't be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignalProblem {
    /// Its resume id.
    #[error("the resume id of a signal {0}")]
    ResumeId(&'static str),
    /// Its payload can't be stored.
    #[error("cannot store the payload of a signal: {0}")]
    Payload(#[from] PayloadError),
}

impl Signal {
    /// That is kept as long as usual if nobody waits yet.
    pub fn new(to: SignalTo, payload: impl Into<Value>) -> Self {
        Self { to, resume_id: None, payload: payload.into(), buffer_for: BUFFER_FOR }
    }

    /// With this resume id.
    #[must_use]
    pub fn resume_id(self, id: impl Into<String>) -> Self {
        Self { resume_id: Some(id.into()), ..self }
    }

    /// Whether every database can keep it.
    pub fn check(&self, limits: &crate::Limits) -> Result<(), SignalProblem> {
        let id = self.resume_id.as_deref();
        match id.map(str::len) {
            Some(0) => return Err(SignalProblem::ResumeId("is empty")),
            Some(length) if length > MAX_RESUME_ID => {
                return Err(SignalProblem::ResumeId("has more than 200 bytes"));
            }
            _ => {}
        }
        if id.is_some_and(|id| id.chars().any(char::is_control)) {
            return Err(SignalProblem::ResumeId("has a character that is not printable"));
        }
        Ok(crate::check_payload(&self.payload, limits)?)
    }
}
