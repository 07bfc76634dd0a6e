//! Streams: the part of the contract about what is said while work goes on.

use pgflow_machine::log::{
    Append, Appended, CloseStream, Closed, End, Outlook, StreamKey, StreamProblem, StreamRow,
};
use pgflow_machine::{RunId, Timestamp};

use super::Reply;

/// A database that keeps streams. Every method is one transaction.
///
/// | rule | |
/// |---|---|
/// | S1 | chunks are numbered 0, 1, 2 … under the lock of the stream's row; whoever sees number *n* can see all before it |
/// | S2 | readers who begin early, late or in the middle see the same |
/// | S3 | a chunk that its writer sends again, by the same number, is there once |
/// | S4 | the end is a state and not a chunk: nothing can be appended after it, and a second end changes nothing |
/// | S5 | an attempt writes a generation of its own; one that is gone leaves its generation abandoned |
/// | S6 | all readers see the same order, in which each writer's chunks are in the order of that writer |
/// | S7 | hints come after the commit and are never needed |
/// | S8 | a page has a bounded number of chunks and bytes; bytes come back as they went in |
/// | S9 | the stream of a task goes with its run; a named one goes when its time is over |
///
/// ```
/// use pgflow_machine::Limits;
/// use pgflow_machine::log::{Append, StreamKey, Writer};
/// use pgflow_backend::backend::{Backend, PageSize};
/// use pgflow_backend::memory::Memory;
///
/// # pgflow::testing::block_on(async {
/// let memory = Memory::new();
/// let (streams, logs) = (memory.streams()?, StreamKey::named("logs/42").unwrap());
/// let chunks = [b"hello".to_vec()];
/// let append = Append::new(&logs, Writer::new(), 0, &chunks, Limits::default());
/// streams.append(&append).await?.unwrap();
/// let page = streams.read_stream(&logs, 0, PageSize::default()).await?.unwrap();
/// assert_eq!(page.chunks[0].data, b"hello");
/// # Ok::<(), pgflow_backend::backend::BackendError>(())
/// # }).unwrap();
/// ```
pub trait Streams: Send + Sync {
    /// Appends chunks. The stream need not be there yet.
    fn append<'a>(&'a self, append: &'a Append<'a>) -> Reply<'a, Result<Appended, StreamProblem>>;

    /// Ends a stream, or the generation of an attempt. It need not be there yet.
    fn close_stream<'a>(
        &'a self,
        close: &'a CloseStream<'a>,
    ) -> Reply<'a, Result<Closed, StreamProblem>>;

    /// Chunks from this number on, and where the stream stands. Nothing if there is no such run, or it has no such step.
    fn read_stream<'a>(
        &'a self,
        stream: &'a StreamKey,
        from: u64,
        size: PageSize,
    ) -> Reply<'a, Option<StreamPage>>;

    /// Streams of a run by step and index, or named ones by name.
    fn list_streams<'a>(&'a self, query: &'a StreamQuery) -> Reply<'a, Vec<StreamSummary>>;

    /// Deletes up to `max` named streams whose time is over, and says how many.
    fn prune_streams(&self, max: u32) -> Reply<'_, u64>;
}

/// What may be read at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSize {
    /// Chunks.
    pub chunks: u32,
    /// Bytes after which no further chunk begins; the first one comes in any case.
    pub bytes: u32,
}

impl PageSize {
    /// Only where the stream stands.
    pub const NOTHING: Self = Self { chunks: 0, bytes: 0 };
}

impl Default for PageSize {
    fn default() -> Self {
        Self { chunks: 256, bytes: 1 << 20 }
    }
}

/// A piece of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Its number.
    pub number: u64,
    /// The attempt that wrote it; 0 in a named stream.
    pub generation: u32,
    /// What it is.
    pub data: Vec<u8>,
}

/// A part of a stream, and where the whole stands: all as of one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamPage {
    /// Chunks, in order.
    pub chunks: Vec<Chunk>,
    /// Of a named stream that is there, which one of its name it is: one that was deleted and written again is another one.
    pub id: Option<i64>,
    /// The number that the next chunk gets.
    pub next: u64,
    /// The attempt that wrote last; 0 if none did, and in a named stream.
    pub generation: u32,
    /// The number of its first chunk.
    pub begins_at: u64,
    /// How that generation ended.
    pub end: Option<End>,
    /// Nothing more will come.
    pub is_over: bool,
}

impl StreamPage {
    /// Puts together what was read.
    pub fn new(
        chunks: Vec<Chunk>,
        id: Option<i64>,
        row: Option<StreamRow>,
        outlook: Outlook,
    ) -> Self {
        let StreamRow { next, generation, begins_at, .. } = row.unwrap_or_default();
        let Outlook { end, is_over } = outlook;
        Self { chunks, id, next, generation, begins_at, end, is_over }
    }
}

/// Which streams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamQuery {
    /// Of this run; otherwise, named ones.
    pub run: Option<RunId>,
    /// Named ones after this name.
    pub after: Option<String>,
    /// At most so many.
    pub max: u32,
}

/// Where a stream stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamSummary {
    /// Which.
    pub stream: StreamKey,
    /// How many chunks it has.
    pub chunks: u64,
    /// How many bytes they have.
    pub bytes: u64,
    /// The attempt that wrote last; 0 in a named one.
    pub generation: u32,
    /// How it ended, if its writer said so.
    pub end: Option<End>,
    /// When a named one may be deleted.
    pub expires_at: Option<Timestamp>,
}

impl StreamSummary {
    /// From its row.
    pub fn new(stream: StreamKey, row: StreamRow) -> Self {
        let StreamRow { next: chunks, bytes, generation, end, expires_at, .. } = row;
        Self { stream, chunks, bytes, generation, end, expires_at }
    }
}
