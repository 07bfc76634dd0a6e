//! Work, as a worker takes it.

use std::time::Duration;

use pgflow_machine::{Lease, Settled, WorkerId};
use serde_json::Value;

/// What a worker has room for.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Slugs of the versions of flows it has code for.
    pub queues: Vec<String>,
    /// How many tasks at most.
    pub max: u32,
    /// Who asks.
    pub worker: WorkerId,
    /// Steps that it takes fewer tasks of.
    pub quotas: Vec<Quota>,
}

/// How many tasks of a step a worker has room for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Slug of its version of the flow.
    pub flow: String,
    /// Its slug.
    pub step: String,
    /// How many; none if 0.
    pub max: u32,
}

/// What a worker got.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claimed {
    /// Tasks, each leased to this worker.
    pub tasks: Vec<ClaimedTask>,
    /// When the next delayed task becomes ready, if the backend knows: no need to look before.
    pub next_in: Option<Duration>,
}

/// A task that a worker may run now.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimedTask {
    /// What it is settled with.
    pub lease: Lease,
    /// Slug of its version of the flow.
    pub flow: String,
    /// For a map, an element; otherwise an object with the run's input as `run` and the outputs of completed
    /// dependencies by slug.
    pub input: Value,
    /// How long it may take. The lease lasts two seconds longer, and a heartbeat renews it.
    pub timeout: Duration,
}

/// What became of a batch of settles, and what was claimed on the way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Work {
    /// One per settle.
    pub settled: Vec<Settled>,
    /// More to do.
    pub claimed: Claimed,
}

/// What a sweep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Tasks that were queued again.
    pub requeued: u64,
}
