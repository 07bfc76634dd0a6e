//! Streams: what is said while work goes on, in order.
//!
//! | file | what is decided there |
//! |---|---|
//! | `key` | which streams there are: of a task, or of a name |
//! | `row` | where a stream stands: numbers, generations, how it ended |
//! | `owner` | what the task of a stream means for those who write and read it |
//! | `append`, `close` | what is written, and what is refused |
//!
//! Chunks are numbered 0, 1, 2 … through all generations of a stream, by the transaction that holds the lock of its row:
//! whoever sees number *n* sees all before it. A task's stream has a generation per attempt that said something.
//!
//! ```
//! use pgflow_machine::log::{Append, Appended, StreamKey, StreamRows, Writer};
//! use pgflow_machine::{Command, Limits, Timestamp};
//!
//! let stream = StreamKey::named("logs/42")?;
//! let chunks = [b"hello".to_vec(), b"world".to_vec()];
//! let append = Append::new(&stream, Writer::named("me")?, 0, &chunks, Limits::default());
//! let mut rows = StreamRows::default();
//! let (answer, writes) = append.decide(&mut rows, Timestamp::default())?;
//! assert_eq!(answer, Ok(Appended { first: Some(0), chunks: 2 }));
//! assert_eq!(writes.chunks.len(), 2);
//! assert_eq!(rows.stream.map(|stream| stream.next), Some(2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod append;
mod close;
mod key;
mod owner;
mod problem;
mod row;
#[cfg(test)]
mod tests;

pub use append::{Append, Appended, CHUNKS_AT_ONCE};
pub use close::{CloseStream, Closed};
pub use key::{InvalidName, StreamKey, Writer};
pub use owner::Owner;
pub use problem::StreamProblem;
pub use row::{ABANDONED, End, LASTS, Outlook, StreamRow};

use crate::Domain;

/// Streams, one per command.
#[derive(Clone, Copy, Debug)]
pub enum Streams {}

impl Domain for Streams {
    type Needs = StreamNeeds;
    type Rows = StreamRows;
    type Writes<'c> = StreamWrites<'c>;
}

/// Rows to load, in this order: the owner, which must not change until the transaction ends, then the stream, locked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamNeeds {
    /// The stream. If it is of a task, that task's owner is needed too.
    pub stream: Option<StreamKey>,
    /// Whose place in it is wanted.
    pub writer: Option<Writer>,
}

/// Rows that were loaded, and as they are to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamRows {
    /// The task that the stream is of, if there is such a run with such a step.
    pub owner: Option<Owner>,
    /// The stream, if it is there.
    pub stream: Option<StreamRow>,
    /// What the writer's next chunk is numbered by the writer.
    pub written: u64,
}

/// What to write.
#[derive(Debug, Default)]
pub struct StreamWrites<'c> {
    /// The stream's row changed, or is new.
    pub stream: bool,
    /// It is new.
    pub is_new: bool,
    /// The writer's place changed.
    pub writer: bool,
    /// New chunks: the first has this number, and all are of the row's generation.
    pub first: u64,
    /// So many bytes come before them.
    pub offset: u64,
    /// They themselves.
    pub chunks: &'c [Vec<u8>],
}
