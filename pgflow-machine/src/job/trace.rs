//! What happened to jobs, for people.

use serde_json::Value;

use super::{JobId, JobToken};
use crate::status::words;

words! {
    /// What happened to a job.
    TraceKind {
        /// It came.
        Submitted = "submitted",
        /// A worker took it.
        Claimed = "claimed",
        /// It is done.
        Finished = "finished",
        /// An attempt failed; the detail says whether it is tried again.
        Failed = "failed",
        /// It needs something else now.
        HandedOver = "handed_over",
        /// A worker gave it back.
        Released = "released",
        /// Somebody wants it cancelled while a worker has it.
        CancelAsked = "cancel_asked",
        /// It is cancelled.
        Cancelled = "cancelled",
        /// Its time was over.
        Expired = "expired",
        /// Its worker was lost.
        Lapsed = "lapsed",
        /// It has lost too many workers in a row.
        Concern = "concern",
        /// Its last attempt was lost with its worker.
        Crashed = "crashed",
        /// Somebody let it go on.
        Cleared = "cleared",
        /// Somebody opened it again.
        Redriven = "redriven",
        /// Nothing is left that it waits for.
        Unblocked = "unblocked",
    }
}

/// A line of the trace. The store adds the moment.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceEntry {
    /// Which job.
    pub job: JobId,
    /// What happened.
    pub kind: TraceKind,
    /// Who did it, if it was somebody.
    pub by: Option<String>,
    /// The lease that it was done with.
    pub token: Option<JobToken>,
    /// What columns do not say.
    pub detail: Option<Value>,
}
