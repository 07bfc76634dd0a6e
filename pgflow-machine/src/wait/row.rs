//! A wait and its children, as they are kept.

use serde_json::{Value, json};

use super::schema::mismatch_of_ours;
use super::{HookToken, NewWait, WaitKind};
use crate::job::{Dependency, JobOutcome};
use crate::status::words;
use crate::{RunId, RunStatus, Timestamp};

/// What a task waits for. There is one while it does.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitRow {
    /// The attempt that ended with it: the fence of what ends it.
    pub attempt: u32,
    /// What kind of thing.
    pub kind: WaitKind,
    /// Since when.
    pub since: Timestamp,
    /// Until when at most; for a sleep, when it ends.
    pub until: Option<Timestamp>,
    /// Of a hook.
    pub token: Option<HookToken>,
    /// What a signal's payload, or what children put out, has to fit.
    pub schema: Option<Value>,
    /// How children ended is the output, also if that is not well.
    pub outcomes: bool,
    /// Children go on when nobody waits for them any more.
    pub detached: bool,
    /// The output is an array with an element per child.
    pub each: bool,
}

/// A child that is waited for.
#[derive(Clone, Debug, PartialEq)]
pub struct Child {
    /// Which run or job.
    pub on: Dependency,
    /// How it ended, once it has.
    pub end: Option<ChildEnd>,
}

/// How the children of a wait are doing, without looking at each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Glance {
    /// One of them goes on.
    pub is_open: bool,
    /// One of them did not end well.
    pub has_failed: bool,
}

impl Glance {
    /// Of these.
    pub fn at(children: &[Child]) -> Self {
        let ends = || children.iter().map(|child| child.end.as_ref());
        Self {
            is_open: ends().any(|end| end.is_none()),
            has_failed: ends().flatten().any(|end| !end.is_well()),
        }
    }
}

/// How a child ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildEnd {
    /// In a word.
    pub status: ChildStatus,
    /// Its error, or why it was cancelled.
    pub message: Option<String>,
}

words! {
    /// How a child ended, in a word. A step that asks for outcomes reads them as `ChildStatus` of the runtime.
    ChildStatus {
        /// Well.
        Completed = "completed",
        /// With an error.
        Failed = "failed",
        /// Somebody ended it.
        Cancelled = "cancelled",
        /// A job's time was over.
        Expired = "expired",
        /// A job's last attempt was lost with its worker.
        Crashed = "crashed",
        /// It is not there any more.
        Deleted = "deleted",
    }
}

impl From<JobOutcome> for ChildStatus {
    fn from(outcome: JobOutcome) -> Self {
        match outcome {
            JobOutcome::Done => Self::Completed,
            JobOutcome::Failed => Self::Failed,
            JobOutcome::Cancelled => Self::Cancelled,
            JobOutcome::Expired => Self::Expired,
            JobOutcome::Crashed => Self::Crashed,
        }
    }
}

impl ChildStatus {
    /// Of a run, if it has ended.
    pub const fn of_run(status: RunStatus) -> Option<Self> {
        match status {
            RunStatus::Started => None,
            RunStatus::Completed => Some(Self::Completed),
            RunStatus::Failed => Some(Self::Failed),
            RunStatus::Cancelled => Some(Self::Cancelled),
        }
    }

    const fn phrase(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "was cancelled",
            Self::Expired => "expired",
            Self::Crashed => "crashed",
            Self::Deleted => "was deleted",
        }
    }
}

impl ChildEnd {
    fn is_well(&self) -> bool {
        self.status == ChildStatus::Completed
    }

    /// What an attempt fails with that waited for it.
    fn error(&self, on: &Dependency) -> String {
        let said = format!("child {on} {}", self.status.phrase());
        match self.message.as_deref() {
            Some(message) if !message.is_empty() => format!("{said}: {message}"),
            _ => said,
        }
    }

    fn outcome(&self, output: &Value) -> Value {
        if self.is_well() {
            return json!({ "ok": output });
        }
        let message = self.message.as_deref().unwrap_or_default();
        json!({ "error": { "status": self.status, "message": message } })
    }
}

/// What an attempt waits no longer for.
#[derive(Clone, Debug, PartialEq)]
pub enum Over {
    /// A sleep, or children: with the output of the task, or what its attempt fails with.
    Woken(Result<Value, String>),
    /// It lasted too long.
    TimedOut(String),
}

impl WaitRow {
    /// As it begins.
    pub fn new(wait: &NewWait, attempt: u32, now: Timestamp) -> Self {
        Self {
            attempt,
            kind: wait.on.kind(),
            since: now,
            until: wait.until(now),
            token: wait.on.token().cloned(),
            schema: wait.schema.clone(),
            outcomes: wait.outcomes,
            detached: wait.detached,
            each: wait.on.each(),
        }
    }

    /// Whether its children are over: all of them, or one that did not end well where that fails the attempt.
    pub fn is_met(&self, children: &[Child]) -> bool {
        let has_ended = |child: &Child| child.end.is_some();
        self.has_children() && (self.failing(children).is_some() || children.iter().all(has_ended))
    }

    /// Whether it may be over, so that its children are worth being loaded: all of them whenever one ends would be too many.
    pub fn may_be_over(&self, children: Glance, now: Timestamp) -> bool {
        let is_late = self.until.is_some_and(|until| until <= now);
        is_late || !children.is_open || (children.has_failed && !self.outcomes)
    }

    /// Whether outputs of its children are wanted, now that they [are over](Self::is_met).
    pub fn wants_outputs(&self, children: &[Child]) -> bool {
        self.failing(children).is_none()
    }

    /// What it comes to now, if it is over; `output` is what a child put out.
    pub fn over(
        &self,
        children: &[Child],
        now: Timestamp,
        mut output: impl FnMut(&Dependency) -> Value,
    ) -> Option<Over> {
        if self.is_met(children) {
            if let Some((child, end)) = self.failing(children) {
                return Some(Over::Woken(Err(end.error(&child.on))));
            }
            let mut outputs = children.iter().map(|child| match &child.end {
                Some(end) if self.outcomes => end.outcome(&output(&child.on)),
                _ => output(&child.on),
            });
            let output =
                if self.each { outputs.collect() } else { outputs.next().unwrap_or_default() };
            return Some(Over::Woken(self.readable(output)));
        }
        let until = self.until.filter(|until| *until <= now)?;
        if self.kind == WaitKind::Sleep {
            return Some(Over::Woken(Ok(Value::Null)));
        }
        let seconds = self.since.saturating_until(until).as_secs();
        Some(Over::TimedOut(format!("nobody answered within {seconds} s")))
    }

    /// What children put out, unless the step cannot read it.
    fn readable(&self, output: Value) -> Result<Value, String> {
        match self.schema.as_ref().and_then(|schema| mismatch_of_ours(schema, &output)) {
            None => Ok(output),
            Some(wrong) => {
                let at = if wrong.path.is_empty() { "" } else { " at " };
                let (path, message) = (&wrong.path, wrong.message());
                Err(format!("cannot read what it waited for{at}{path}: {message}"))
            }
        }
    }

    fn has_children(&self) -> bool {
        matches!(self.kind, WaitKind::Runs | WaitKind::Jobs)
    }

    /// The first child that fails the attempt.
    fn failing<'c>(&self, children: &'c [Child]) -> Option<(&'c Child, &'c ChildEnd)> {
        let ended = children.iter().filter_map(|child| Some((child, child.end.as_ref()?)));
        ended.filter(|_| !self.outcomes).find(|(_, end)| !end.is_well())
    }
}

/// Why children are cancelled that nobody waits for any more.
pub fn orphaned(parent: RunId, status: RunStatus) -> String {
    let why = match status {
        RunStatus::Cancelled => "was cancelled",
        RunStatus::Failed => "failed",
        RunStatus::Started | RunStatus::Completed => "no longer waits for it",
    };
    format!("parent run {parent} {why}")
}
