//! What commands about jobs leave to be written.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Dependency, JobId, JobOutcome, TraceEntry, Wait};

/// What to write, in this order. Rows are in the [`JobRows`](super::JobRows) that the command was decided on
/// ([`row`](super::JobRows::row), [`keys`](super::JobRows::keys)).
#[derive(Debug, Default)]
pub struct JobWrites<'c> {
    /// Jobs to insert: their places in line are in this order.
    pub inserted: Vec<JobId>,
    /// Jobs that come back out of the archive, with their payloads.
    pub restored: BTreeSet<JobId>,
    /// Jobs whose rows changed, and that have not ended.
    pub updated: BTreeSet<JobId>,
    /// Payloads of jobs that are inserted, updated or archived.
    pub payloads: BTreeMap<JobId, &'c Value>,
    /// What attempts failed with.
    pub errors: BTreeMap<JobId, String>,
    /// Jobs whose lease changed or went.
    pub leases: BTreeSet<JobId>,
    /// Dependencies that are over: all edges to them go.
    pub over: BTreeSet<Dependency>,
    /// Jobs that wait for nothing any more: all their edges go.
    pub freed: BTreeSet<JobId>,
    /// New edges.
    pub edges: Vec<Edge>,
    /// Jobs that move to the archive, with their rows as they are now.
    pub archived: Vec<ArchiveWrite<'c>>,
    /// Keys that are held by another job now, or by none.
    pub keys: BTreeSet<String>,
    /// What to append to the trace.
    pub trace: Vec<TraceEntry>,
}

/// A job waits for something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Who.
    pub waiter: JobId,
    /// For what.
    pub wait: Wait,
}

/// A job that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct ArchiveWrite<'c> {
    /// Which one.
    pub id: JobId,
    /// How.
    pub outcome: JobOutcome,
    /// What it put out.
    pub output: Option<&'c Value>,
}

impl JobWrites<'_> {
    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.inserted.is_empty()
            && self.restored.is_empty()
            && self.updated.is_empty()
            && self.leases.is_empty()
            && self.archived.is_empty()
            && self.over.is_empty()
            && self.keys.is_empty()
            && self.trace.is_empty()
    }
}
