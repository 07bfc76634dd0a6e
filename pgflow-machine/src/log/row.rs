//! Where a stream stands.

use std::fmt;
use std::time::Duration;

use super::Owner;
use crate::{Timestamp, cut_error};

/// What the end of a generation says whose writer is gone.
pub const ABANDONED: &str = "abandoned";

/// How long a stream of its own is kept after it was last written, unless its writers say otherwise.
pub const LASTS: Duration = Duration::from_hours(7 * 24);

/// How a stream ended.
///
/// ```
/// use pgflow_machine::log::End;
///
/// assert_eq!(End::error("no\0pe"), End::Error("nope".into()));
/// assert_eq!(End::Eof.to_string(), "end of stream");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All was said.
    Eof,
    /// Something went wrong.
    Error(String),
}

impl End {
    /// Something went wrong: as much of what as is kept.
    pub fn error(text: &str) -> Self {
        Self::Error(cut_error(&text.replace('\0', "")).to_owned())
    }

    /// From what a database has.
    pub fn from_stored(has_ended: bool, error: Option<String>) -> Option<Self> {
        has_ended.then(|| error.map_or(Self::Eof, Self::Error))
    }

    /// What went wrong.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Eof => None,
            Self::Error(text) => Some(text),
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.why().unwrap_or("end of stream"))
    }
}

/// A stream's row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamRow {
    /// The number that the next chunk gets, which is how many there are.
    pub next: u64,
    /// The attempt that wrote last; 0 in a stream of its own.
    pub generation: u32,
    /// The number of its first chunk.
    pub begins_at: u64,
    /// How many bytes all chunks have.
    pub bytes: u64,
    /// How it ended.
    pub end: Option<End>,
    /// When a stream of its own may be deleted.
    pub expires_at: Option<Timestamp>,
}

/// What a reader may expect of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outlook {
    /// How the newest generation ended. Of a task, another one may come.
    pub end: Option<End>,
    /// Nothing more will come.
    pub is_over: bool,
}

impl Outlook {
    /// What to expect of a stream that may not be there yet; without an owner, it is one of its own.
    ///
    /// A generation that nobody has ended, and whose attempt does not have the task any more, was abandoned.
    ///
    /// ```
    /// use pgflow_machine::log::{End, Outlook, Owner, StreamRow};
    /// use pgflow_machine::{RunStatus, StepStatus, TaskStatus};
    ///
    /// let row = StreamRow { next: 5, generation: 1, ..StreamRow::default() };
    /// let (run, step) = (RunStatus::Started, StepStatus::Started);
    /// let lost = Owner { run, step, task: Some((TaskStatus::Queued, 1)) };
    /// let outlook = Outlook::of(Some(&row), Some(lost));
    /// assert_eq!(outlook.end, Some(End::Error("abandoned".into())));
    /// assert!(!outlook.is_over, "there will be another attempt");
    /// ```
    pub fn of(row: Option<&StreamRow>, owner: Option<Owner>) -> Self {
        let said = row.and_then(|row| row.end.clone());
        let Some(owner) = owner else { return Self { is_over: said.is_some(), end: said } };
        let Some(row) = row else {
            // Whoever said nothing has said all, unless that was for want of a worker.
            let end = if owner.is_lost() { End::error(ABANDONED) } else { End::Eof };
            return Self { end: owner.is_over().then_some(end), is_over: owner.is_over() };
        };
        let is_abandoned = said.is_none() && !owner.holds(row.generation);
        // An attempt that has said all is about to be settled. Until that is committed another one may say it all again.
        let has_said_all = said == Some(End::Eof) && owner.has_left_waiting(row.generation);
        let is_over = owner.is_over() || has_said_all;
        Self { end: if is_abandoned { Some(End::error(ABANDONED)) } else { said }, is_over }
    }
}
