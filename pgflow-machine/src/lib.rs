//! The state machine of runs and tasks, without I/O: what happens next, and what is recorded.
//!
//! | room | what is decided there |
//! |---|---|
//! | `flow` | a run and its steps ([`Turn`]), which version a start uses ([`Catalog`]), starts, cancellations, retries |
//! | `work` | tasks: fences, leases, batches of settles, heartbeats, sweeps, what a claim hands out |
//! | [`job`] | jobs, which decide their own way: submits, leases, waits, keys, crashes, redrives |
//! | [`permit`] | what claims of messages need besides: rates, resources, fairness, batches |
//! | [`log`] | streams: numbers, generations, ends, who may write |
//! | [`wait`] | attempts that end by waiting: hooks, signals, sleeps, children |
//! | [`schedule`] | schedules: which of the moments that have come start a run |
//!
//! Each transition is a [`Command`]: it says which rows it looks at, decides, and says what is to be written. Stores
//! (memory, SQLite) load and write rows inside their transaction and decide nothing. Postgres has the same
//! transitions as SQL functions, and the differential test holds the two against each other. It is a crate of its own
//! because macros and build scripts, which need `pgflow-model`, do not need it.

#![forbid(unsafe_code)]

mod constants;
mod event;
mod flow;
mod id;
pub mod job;
mod limits;
pub mod log;
pub mod permit;
pub mod schedule;
mod status;
mod timestamp;
pub mod wait;
mod work;

pub use constants::{Constant, SHARED};
pub use event::{EVENT_BYTES, Event, Happened};
pub use flow::{
    Begins, Cancel, Cancelled, Catalog, Change, CompiledFor, Effect, Ensured, Entry, Excess,
    Finished, FlowVersion, Gather, InputSource, InvalidShape, NewRun, NotLoaded, OUTPUT_BYTES,
    Output, Payload, Plan, PlanStep, Refusal, Retried, RetryRun, RunState, Start, StartError,
    Started, StepState, Turn, Version, Violation, completed_leaves, elements, excess, is_measured,
};
pub use id::{InvalidRunId, RunId, WorkerId};
pub use limits::{Limits, PayloadError, check_payload, payload_bytes, type_name};
pub use status::{RunStatus, SkipReason, StepStatus, TaskStatus};
pub use timestamp::Timestamp;
pub use work::{
    BULK_FROM, Beat, Candidate, Choice, Claim, Command, Domain, Flows, GRACE, Heartbeat, Holds,
    InputParts, Lane, Lease, MAX_REQUEUES, Needs, NewRow, Places, Quota, Ready, Retry, Room, Rows,
    RunRow, Settle, SettleBatch, Settled, Source, Standing, Sweep, TaskKey, TaskLease, TaskRef,
    TaskRow, TaskWrite, Ties, Until, Verdict, Want, Writes, bulk_share, bulk_until, cut_error,
    input_too_large, lost_after, outlives, promise, ready_at, retry_delay, settle_order,
    settle_rounds, stalled_error, to_bulk, whole_seconds,
};
