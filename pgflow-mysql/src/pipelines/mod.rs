//! Messages and permits: rows in, rows out.

mod check;
mod look;
mod push_in;
mod write;

pub(crate) use check::INVARIANTS;
pub(crate) use look::{
    depth, holds, kept, next_change, permits, permits_of, time, waiting, waiting_of,
};
pub use push_in::push_in;
pub(crate) use write::{
    add_holds, add_task_holds, defer, drop_holds, drop_messages, drop_task_holds, drop_turns,
    forget_dead, write_messages, write_permits,
};
