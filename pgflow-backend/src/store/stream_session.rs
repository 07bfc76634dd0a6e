//! Streams of a store: rows in, rows out.

use std::future::Future;

use pgflow_machine::log::{Owner, StreamKey, StreamNeeds, StreamRow, StreamRows, StreamWrites};

use super::Stored;
use crate::backend::{Chunk, PageSize, StreamQuery, StreamSummary};

/// What is found of a stream.
#[derive(Clone, Debug, Default)]
pub struct StreamFound {
    /// How the task is doing that it is of, if there is such a run with such a step; nothing for a named one.
    pub owner: Option<Owner>,
    /// The number of its row, which no other stream gets.
    pub id: Option<i64>,
    /// The stream, if it is there.
    pub row: Option<StreamRow>,
    /// Chunks.
    pub chunks: Vec<Chunk>,
}

/// The part of a transaction that is about streams. It decides nothing.
pub trait StreamSession: Send {
    /// Loads rows, in the order of [`StreamNeeds`]. A store that locks rows keeps the owner from being changed, then locks the
    /// stream. Of two transitions that make the same new stream, the later one has to be done again.
    fn load_stream(
        &mut self,
        needs: &StreamNeeds,
    ) -> impl Future<Output = Stored<StreamRows>> + Send;

    /// Writes what a command decided.
    fn write_stream(
        &mut self,
        needs: &StreamNeeds,
        rows: &StreamRows,
        writes: StreamWrites<'_>,
    ) -> impl Future<Output = Stored<()>> + Send;

    /// A stream, the task that it is of, and chunks from this number on: all as of one moment.
    fn read_stream(
        &mut self,
        stream: &StreamKey,
        from: u64,
        size: PageSize,
    ) -> impl Future<Output = Stored<StreamFound>> + Send;

    /// Streams.
    fn list_streams(
        &mut self,
        query: &StreamQuery,
    ) -> impl Future<Output = Stored<Vec<StreamSummary>>> + Send;

    /// Deletes up to `max` named streams whose time is over.
    fn prune_streams(&mut self, max: u32) -> impl Future<Output = Stored<u64>> + Send;
}
