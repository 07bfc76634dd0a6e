//! What migrating did, or would do.

use super::pgmq::Pgmq;

/// What [`migrate`](super::migrate) did.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The files applied now, in order; empty when everything was up to date.
    pub applied: Vec<String>,
    /// The number of the last numbered file.
    pub version: i32,
    /// The queue underneath.
    pub pgmq: Pgmq,
}

/// What [`Core::pending`](super::Core::pending) found.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Pending {
    /// The files that would be applied, in order.
    pub files: Vec<String>,
    /// The number of the last numbered file.
    pub version: i32,
    /// The queue underneath; nothing when it would be installed.
    pub pgmq: Option<Pgmq>,
}

impl Pending {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.pgmq.is_some()
    }
}
