//! The state machine of a run, without I/O: what happens next, and what is recorded.
//!
//! SQLite and memory execute it inside their transaction. Postgres has the same transitions as SQL
//! functions, and the differential test holds the two against each other. It is a crate of its own
//! because macros and build scripts, which need `pgflow-model`, do not need it.

#![forbid(unsafe_code)]

mod event;
mod id;
mod limits;
mod settle;
mod status;
mod timestamp;

pub use event::{Event, Happened};
pub use id::{InvalidRunId, RunId, WorkerId};
pub use limits::{Limits, PayloadError, check_payload};
pub use settle::{Beat, Lease, Retry, Settle, Settled, TaskKey, Verdict};
pub use status::{RunStatus, SkipReason, StepStatus, TaskStatus};
pub use timestamp::Timestamp;
