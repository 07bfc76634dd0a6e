//! Steps and tasks of a run, one by one.

use pgflow_machine::{TaskStatus, Timestamp, WorkerId};

/// When a step of a run began and ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepTimes {
    /// Its slug.
    pub slug: String,
    /// When it began; nothing if it has not, or was skipped before.
    pub started_at: Option<Timestamp>,
    /// When it was completed, failed or skipped.
    pub ended_at: Option<Timestamp>,
}

/// Which tasks of a step to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskQuery {
    /// Only with one of these; with any if empty.
    pub statuses: Vec<TaskStatus>,
    /// Only after this index: the last of the page before.
    pub after: Option<u32>,
    /// How many: a thousand at most.
    pub max: u32,
}

impl TaskQuery {
    /// The largest page.
    pub const MOST: u32 = 1_000;
}

impl Default for TaskQuery {
    fn default() -> Self {
        Self { statuses: Vec::new(), after: None, max: 100 }
    }
}

/// A task as the database has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRecord {
    /// Its index; 0 unless it is one of a map.
    pub index: u32,
    /// What it is.
    pub status: TaskStatus,
    /// Attempts that count, without those that were given back.
    pub attempts: u32,
    /// How often its worker was lost.
    pub losses: u32,
    /// The worker that has it.
    pub worker: Option<WorkerId>,
    /// What its last attempt failed with.
    pub error: Option<String>,
    /// Why it waits, if its last attempt was [yielded](pgflow_machine::Verdict::Yielded).
    pub yielded: Option<String>,
    /// When it may be claimed, if it waits.
    pub ready_at: Option<Timestamp>,
    /// When its newest attempt began, as far as the database keeps it.
    pub started_at: Option<Timestamp>,
    /// When it was completed or failed, as far as the database keeps it.
    pub ended_at: Option<Timestamp>,
    /// When its worker counts as lost, if one has it and nothing is heard until then.
    pub lost_at: Option<Timestamp>,
}
