//! Versions of flows.

use std::time::Duration;

use pgflow_model::FlowShape;

/// A version of a flow, as a program knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowVersion {
    /// Name of the flow, for all its versions: what runs are started by.
    pub flow: String,
    /// Its number, from 1.
    pub version: u32,
    /// Its own name, which is also that of its queue.
    pub slug: String,
    /// Its graph. Comparisons look at [`FlowShape::normalized`].
    pub shape: FlowShape,
}

/// What became of [`Backend::ensure_flow`](super::Backend::ensure_flow).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ensured {
    /// It was not there and is now.
    Created,
    /// It was there. Options such as timeouts may differ: those in the database count.
    Same,
    /// Something else is there under this name: what differs, a sentence each. Nothing was changed.
    Conflict(Vec<String>),
}

/// A version of a flow, as the database knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownVersion {
    /// Name of the flow.
    pub flow: String,
    /// Its number.
    pub version: u32,
    /// Its own name.
    pub slug: String,
    /// Whether new runs use it.
    pub is_current: bool,
    /// Runs that have not ended.
    pub open_runs: u64,
    /// Their tasks that wait or are being worked on.
    pub open_tasks: u64,
    /// How long the oldest of those has been there.
    pub oldest: Option<Duration>,
}
