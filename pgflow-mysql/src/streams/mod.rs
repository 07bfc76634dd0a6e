//! Streams: rows in, rows out.

mod check;
mod load;
mod read;
mod write;

use pgflow_machine::TaskKey;
use pgflow_machine::log::StreamKey;
use uuid::Uuid;

pub(crate) use check::INVARIANTS;
pub(crate) use load::load;
pub(crate) use read::{list, page};
pub(crate) use write::{prune, write};

/// What a stream's row is found by: run, name and index.
fn place(stream: &StreamKey) -> (Uuid, &[u8], u32) {
    match stream {
        StreamKey::Task(TaskKey { run, step, index }) => (run.0, step.as_bytes(), *index),
        StreamKey::Named(name) => (Uuid::nil(), name.as_bytes(), 0),
    }
}
