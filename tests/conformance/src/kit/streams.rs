//! What checks of streams are written with.

use std::sync::Arc;

use pgflow_machine::log::{
    Append, Appended, CloseStream, Closed, End, StreamKey, StreamProblem, Writer,
};
use pgflow_machine::{Limits, TaskKey};
use pgflow_runtime::backend::{Backend, ClaimedTask, PageSize, StreamPage, Streams};

use super::Cx;

/// Streams of a check.
#[derive(Clone)]
pub(crate) struct StreamKit {
    pub(crate) cx: Arc<Cx>,
    backend: Arc<dyn Backend>,
}

impl StreamKit {
    pub(crate) fn new(cx: &Arc<Cx>) -> Self {
        Self { cx: Arc::clone(cx), backend: cx.backend() }
    }

    /// The same on a connection of its own.
    pub(crate) async fn another(&self) -> Self {
        Self { cx: Arc::clone(&self.cx), backend: self.cx.another().await }
    }

    /// The same if other processes can be.
    pub(crate) async fn another_if_possible(self) -> Self {
        if self.backend.abilities().multi_process { self.another().await } else { self }
    }

    pub(crate) fn streams(&self) -> &dyn Streams {
        self.backend.streams().expect("every backend has streams")
    }

    pub(crate) async fn limits(&self) -> Limits {
        self.backend.limits().await.expect("limits can be read")
    }

    /// A stream that no other check has.
    pub(crate) fn named(&self) -> StreamKey {
        StreamKey::named(&self.cx.name()).expect("a name")
    }

    pub(crate) async fn try_append(
        &self,
        stream: &StreamKey,
        writer: &Writer,
        first: u64,
        chunks: &[Vec<u8>],
    ) -> Result<Appended, StreamProblem> {
        let limits = self.limits().await;
        let append = Append::new(stream, writer.clone(), first, chunks, limits);
        self.streams().append(&append).await.expect("an append has an outcome")
    }

    /// Appends texts; the number of the first new one, and how many are new.
    pub(crate) async fn append<const N: usize>(
        &self,
        stream: &StreamKey,
        writer: &Writer,
        first: u64,
        texts: [&str; N],
    ) -> Result<(Option<u64>, u64), StreamProblem> {
        let chunks = texts.map(|text| text.as_bytes().to_vec());
        let appended = self.try_append(stream, writer, first, &chunks).await?;
        Ok((appended.first, appended.chunks))
    }

    pub(crate) async fn close(
        &self,
        stream: &StreamKey,
        writer: &Writer,
        end: End,
    ) -> Result<Closed, StreamProblem> {
        let close = CloseStream::new(stream, writer.clone(), &end);
        self.streams().close_stream(&close).await.expect("an end has an outcome")
    }

    pub(crate) async fn page(&self, stream: &StreamKey, from: u64, size: PageSize) -> StreamPage {
        let page = self.streams().read_stream(stream, from, size).await;
        page.expect("a stream can be read").expect("there is such a task")
    }

    /// What is there from this number on.
    pub(crate) async fn read(&self, stream: &StreamKey, from: u64) -> StreamPage {
        self.page(stream, from, PageSize::default()).await
    }

    /// All texts, like `0:hello` in a named stream and `3@2:hello` of the second attempt.
    pub(crate) async fn texts(&self, stream: &StreamKey) -> Vec<String> {
        let page = self.read(stream, 0).await;
        let text = |chunk: &pgflow_runtime::backend::Chunk| {
            let data = String::from_utf8_lossy(&chunk.data);
            match chunk.generation {
                0 => format!("{}:{data}", chunk.number),
                attempt => format!("{}@{attempt}:{data}", chunk.number),
            }
        };
        page.chunks.iter().map(text).collect()
    }
}

/// The stream of a task.
pub(crate) fn stream_of(task: &ClaimedTask) -> StreamKey {
    let TaskKey { run, step, index } = task.lease.task.clone();
    StreamKey::Task(TaskKey { run, step, index })
}

/// Who writes it.
pub(crate) fn attempt(task: &ClaimedTask) -> Writer {
    Writer::Attempt(task.lease.attempt)
}

pub(crate) fn writer(name: &str) -> Writer {
    Writer::named(name).expect("a name")
}
