//! Waits: attempts that end before what they are for has happened.
//!
//! | file | what is decided there |
//! |---|---|
//! | `new` | what an attempt may wait for |
//! | `token` | names of hooks: unguessable ones, and such that a step chose |
//! | `signal` | what was sent to a hook, and what became of it |
//! | `row` | when a wait is over, and what it comes to |
//! | `end` | what becomes of the task then |
//! | `schema` | whether a payload is what is waited for |
//!
//! A waiting task has no lease and no slot. What it waits for completes it from outside, or fails its attempt.

mod end;
mod new;
mod row;
mod schema;
mod signal;
#[cfg(test)]
mod tests;
mod token;

pub use end::{Deliver, Delivery, EndWaits};
pub use new::{Awaited, CHILD_BYTES, CHILDREN_AT_MOST, NewChild, NewWait, TooMuch, WaitKind};
pub use row::{Child, ChildEnd, ChildStatus, Glance, Over, WaitRow, orphaned};
pub use schema::{MAX_COMPARISONS, Mismatch, mismatch};
pub use signal::{
    BUFFER_FOR, KEPT_AT_MOST, MAX_RESUME_ID, Signal, SignalProblem, SignalTo, Signalled,
};
pub use token::{ANNOUNCED, HookToken, InvalidToken, MAX_TOKEN};
