//! Tasks: who may have them, for how long, and what becomes of them.

mod batch;
mod choice;
mod claim;
mod command;
mod heartbeat;
mod input;
mod lease;
mod order;
mod rows;
mod standing;
mod sweep;
#[cfg(test)]
mod tests;
mod verdict;

pub use batch::SettleBatch;
pub(crate) use batch::{Batch, Fence};
pub(crate) use choice::{BULK, BULK_END, CLAIM_BYTES, INPUT_BYTES};
pub use choice::{
    BULK_FROM, Choice, Places, Ready, Room, bulk_share, bulk_until, input_too_large, ready_at,
    to_bulk,
};
pub use claim::{Candidate, Claim, Lane, Quota, Source, Want};
pub use command::{Command, Domain, Flows, Needs, NewRow, TaskWrite, Writes};
pub use heartbeat::{Heartbeat, Holds};
pub use input::InputParts;
pub use lease::{GRACE, MAX_REQUEUES, lost_after, outlives, promise, stalled_error};
pub use order::{settle_order, settle_rounds};
pub use rows::{Rows, RunRow, TaskRef, TaskRow, Ties};
pub(crate) use standing::{MAX_DELAY, MAX_ERROR, back_off};
pub use standing::{Standing, cut_error, retry_delay, whole_seconds};
pub use sweep::Sweep;
pub use verdict::{Beat, Lease, Retry, Settle, Settled, TaskKey, TaskLease, Until, Verdict};
