//! The state machine of a run, without I/O: what happens next, and what is recorded.
//!
//! SQLite and memory execute it inside their transaction. Postgres has the same transitions as SQL
//! functions, and the differential test holds the two against each other. It is a crate of its own
//! because macros and build scripts, which need `pgflow-model`, do not need it.

#![forbid(unsafe_code)]

mod batch;
mod change;
mod event;
mod id;
mod lease;
mod limits;
mod plan;
mod settle;
mod state;
mod status;
mod task;
mod timestamp;
mod turn;

pub use batch::{settle_order, settle_rounds};
pub use change::{Change, Effect, Entry, Payload, Source};
pub use event::{Event, Happened};
pub use id::{InvalidRunId, RunId, WorkerId};
pub use lease::{MAX_REQUEUES, lost_after, promise, stalled_error};
pub use limits::{Limits, PayloadError, check_payload, type_name};
pub use plan::{InvalidShape, Plan, PlanStep};
pub use settle::{Beat, Lease, Retry, Settle, Settled, TaskKey, Verdict};
pub use state::{Output, RunState, StepState};
pub use status::{RunStatus, SkipReason, StepStatus, TaskStatus};
pub use task::{Standing, cut_error, retry_delay};
pub use timestamp::Timestamp;
pub use turn::{Finished, NotLoaded, StartError, Turn, Violation, elements};
