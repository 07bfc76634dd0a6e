//! Flows and their queues, from the outside.

use std::time::Duration;

use pgflow_machine::Timestamp;
use pgflow_model::FlowShape;
use serde_json::Value;

/// A version of a flow in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowRecord {
    /// Name of the flow, for all its versions.
    pub flow: String,
    /// Its number.
    pub version: u32,
    /// Its own name, which is also that of its queue.
    pub slug: String,
    /// Whether new runs use it.
    pub is_current: bool,
    /// How many steps it has.
    pub steps: u32,
    /// When the database got it, if it keeps that.
    pub created_at: Option<Timestamp>,
}

/// A version of a flow with its graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// What a list says about it.
    pub record: FlowRecord,
    /// Its graph and options.
    pub shape: FlowShape,
    /// The JSON Schema of what its runs are given, if a program has noted one.
    pub input_schema: Option<Value>,
}

/// What a version's queue holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueDepth {
    /// Slug of the version.
    pub slug: String,
    /// Tasks that a worker could take now.
    pub ready: u64,
    /// Tasks that wait for their time: a delay, or the next attempt.
    pub delayed: u64,
    /// Tasks that a worker has.
    pub running: u64,
    /// How long the oldest ready task could have been taken.
    pub oldest_ready: Option<Duration>,
}
