//! Streams: rows in, rows out.

mod check;
mod read;
mod write;

use pgflow_machine::TaskKey;
use pgflow_machine::log::{StreamKey, StreamNeeds, StreamRows, StreamWrites};
use uuid::Uuid;

pub(super) use check::INVARIANTS;

use crate::session::{Conn, SqliteSession};
use pgflow_backend::backend::{PageSize, StreamQuery, StreamSummary};
use pgflow_backend::store::{Stored, StreamFound, StreamSession};

/// What a stream's row is found by: run, name and index.
fn place(stream: &StreamKey) -> (Uuid, &str, u32) {
    match stream {
        StreamKey::Task(TaskKey { run, step, index }) => (run.0, step, *index),
        StreamKey::Named(name) => (Uuid::nil(), name, 0),
    }
}

/// Numbers are 63 bits wide in the database: there is nothing after the last of them.
fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl<C: Conn> StreamSession for SqliteSession<C> {
    async fn load_stream(&mut self, needs: &StreamNeeds) -> Stored<StreamRows> {
        Ok(read::load(self, needs).await?)
    }

    async fn write_stream(
        &mut self,
        needs: &StreamNeeds,
        rows: &StreamRows,
        writes: StreamWrites<'_>,
    ) -> Stored<()> {
        Ok(write::write(self, needs, rows, &writes).await?)
    }

    async fn read_stream(
        &mut self,
        stream: &StreamKey,
        from: u64,
        size: PageSize,
    ) -> Stored<StreamFound> {
        Ok(read::page(self, stream, from, size).await?)
    }

    async fn list_streams(&mut self, query: &StreamQuery) -> Stored<Vec<StreamSummary>> {
        Ok(read::list(self, query).await?)
    }

    async fn prune_streams(&mut self, max: u32) -> Stored<u64> {
        Ok(write::prune(self, max).await?)
    }
}
