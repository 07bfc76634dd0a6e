//! Writing what waits, group by group.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use pgflow_machine::log::{
    Append, CHUNKS_AT_ONCE, CloseStream, End, StreamKey, StreamProblem, Writer,
};
use pgflow_machine::{Limits, TaskLease};

use super::EmitError;
use super::outlet::{Failure, Shared};
use crate::backend::{Backend, BackendError, Streams};
use crate::calls;
use crate::client::again;
use crate::worker::panic_text;

/// The stream of a task, as an attempt writes it.
#[derive(Clone)]
pub(super) struct TaskStream {
    backend: Arc<dyn Backend>,
    stream: StreamKey,
    pub(super) attempt: u32,
    limits: Limits,
}

impl TaskStream {
    pub(super) fn new(backend: Arc<dyn Backend>, lease: &TaskLease, limits: Limits) -> Self {
        let stream = StreamKey::Task(lease.task.clone());
        Self { backend, stream, attempt: lease.attempt, limits }
    }

    /// Whether this chunk can be appended.
    pub(super) fn check(&self, chunk: &[u8]) -> Result<(), StreamProblem> {
        let (bytes, limit) = (chunk.len(), self.limits.max_bytes);
        if bytes > limit { Err(StreamProblem::TooLarge { bytes, limit }) } else { Ok(()) }
    }

    async fn append(&self, first: u64, chunks: &[Vec<u8>]) -> Result<(), Failure> {
        let writer = Writer::Attempt(self.attempt);
        let append = Append::new(&self.stream, writer, first, chunks, self.limits);
        let appended = again(|| async { self.streams()?.append(&append).await }).await;
        match appended {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(problem)) => Err(Failure::Refused(problem)),
            Err(error) => Err(Failure::Backend(Arc::new(error))),
        }
    }

    pub(super) async fn close(&self, end: End) -> Result<(), EmitError> {
        let place = self.clone();
        let close = async move {
            let close = CloseStream::new(&place.stream, Writer::Attempt(place.attempt), &end);
            again(|| async { place.streams()?.close_stream(&close).await }).await
        };
        let closed = self.apart(close).await.map_err(EmitError::Backend)?;
        closed.map(drop).map_err(EmitError::Refused)
    }

    /// Makes a call where nobody holds it up.
    async fn apart<T: Send + 'static>(
        &self,
        call: impl Future<Output = Result<T, BackendError>> + Send + 'static,
    ) -> Result<T, BackendError> {
        if !self.backend.abilities().holds_connections {
            return call.await;
        }
        let answer = calls::spawn(call).await;
        answer.unwrap_or_else(|error| Err(BackendError::Unreachable(error.into())))
    }

    fn streams(&self) -> Result<&dyn Streams, BackendError> {
        self.backend.streams()
    }
}

/// Begins to write: as a task, so that the step goes on meanwhile.
pub(super) async fn begin(shared: &Arc<Shared>, place: &TaskStream) {
    let (shared, place) = (Arc::clone(shared), place.clone());
    // What is in memory costs nothing to write, and tests of flows use it without a runtime that could run a task.
    if place.backend.abilities().holds_connections {
        calls::spawn(async move { write(&shared, &place).await });
    } else {
        write(&shared, &place).await;
    }
}

/// Until nothing waits. Whoever waits for that must not do so for ever because of a bug.
async fn write(shared: &Shared, place: &TaskStream) {
    if let Err(panic) = AssertUnwindSafe(write_groups(shared, place)).catch_unwind().await {
        let why = BackendError::Unreachable(panic_text(panic).into());
        shared.lock().fail(Failure::Backend(Arc::new(why)));
    }
    shared.written.notify_waiters();
}

async fn write_groups(shared: &Shared, place: &TaskStream) {
    while let Some((first, group)) = next(shared, place.limits.max_bytes) {
        let written = place.append(first, &group).await;
        let mut state = shared.lock();
        match written {
            Ok(()) => state.sent = first + group.len() as u64,
            Err(failure) => state.fail(failure),
        }
        drop(state);
        shared.written.notify_waiters();
    }
}

/// As much as can be appended at once; nothing means that this writer is done.
fn next(shared: &Shared, most_bytes: usize) -> Option<(u64, Vec<Vec<u8>>)> {
    let mut state = shared.lock();
    let (mut group, mut bytes) = (Vec::new(), 0);
    while let Some(chunk) = state.waiting.front() {
        bytes += chunk.len();
        if group.len() >= CHUNKS_AT_ONCE || (bytes > most_bytes && !group.is_empty()) {
            break;
        }
        let Some(chunk) = state.waiting.pop_front() else { break };
        state.bytes -= chunk.len();
        group.push(chunk);
    }
    state.is_writing = !group.is_empty();
    state.is_writing.then_some((state.sent, group))
}
