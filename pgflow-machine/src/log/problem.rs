//! What is wrong with what a writer wants.

use super::{CHUNKS_AT_ONCE, End, InvalidName};

/// Why chunks are not appended. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamProblem {
    /// The stream, or the attempt's part of it, has ended.
    #[error("the stream has ended ({0}): nothing can be appended to it")]
    Ended(End),
    /// The attempt does not have the task any more: its run has ended, it ran out of time, or another one has it.
    #[error("attempt {0} does not have the task any more, so it cannot write its stream")]
    Superseded(u32),
    /// There is no such run, or it has no such step.
    #[error("there is no such task to write the stream of")]
    UnknownTask,
    /// Chunks before these are missing.
    #[error("the writer's chunk {expected} is missing: it comes before chunk {first}")]
    Gap {
        /// What the writer has to send.
        expected: u64,
        /// What it sent.
        first: u64,
    },
    /// A chunk has too many bytes, or all of them together.
    #[error("chunks of {bytes} bytes were to be appended at once, and the limit is {limit}")]
    TooLarge {
        /// How many.
        bytes: usize,
        /// How many it may be.
        limit: usize,
    },
    /// Too many chunks.
    #[error("{0} chunks were to be appended at once, and the limit is {CHUNKS_AT_ONCE}")]
    TooMany(usize),
    /// A name that cannot be stored.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// An attempt writes the stream of its task, and named writers write named streams.
    #[error("only attempts can write the stream of a task, and only the stream of their own")]
    WrongWriter,
}
