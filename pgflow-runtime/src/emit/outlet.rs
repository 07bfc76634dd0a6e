//! Where chunks go that a step sends.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pgflow_machine::log::{End, StreamProblem};
use pgflow_machine::{Limits, TaskLease};
use tokio::sync::Notify;

use super::writing::{self, TaskStream};
use crate::DataError;
use crate::backend::{Backend, BackendError};

/// What may wait to be written: then whoever sends waits.
const MOST_CHUNKS: usize = 1_000;
const MOST_BYTES: usize = 1 << 20;

/// Why a stream can't be written.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum EmitError {
    /// The value can't be JSON.
    #[error(transparent)]
    Unwritable(DataError),
    /// Refused: the attempt is superseded, or the chunk is too large.
    #[error("the stream cannot be written: {0}")]
    Refused(#[source] StreamProblem),
    /// The database has no answer.
    #[error("the stream cannot be written: {0}")]
    Backend(#[source] BackendError),
    /// The step has ended, and this was kept.
    #[error("the step has ended, and its stream with it")]
    Ended,
}

pgflow_model::debug_with_causes!(EmitError);

/// What attempts write to; without a database, what they send is kept here.
#[derive(Clone, Default)]
pub(crate) struct Outlet(pub(super) Arc<Shared>);

#[derive(Default)]
pub(super) struct Shared {
    pub(super) place: Option<TaskStream>,
    state: Mutex<State>,
    /// Something was written, or never will be.
    pub(super) written: Notify,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) waiting: VecDeque<Vec<u8>>,
    pub(super) bytes: usize,
    /// Chunks that are written.
    pub(super) sent: u64,
    pub(super) is_writing: bool,
    pub(super) failure: Option<Failure>,
    has_ended: bool,
}

/// Why nothing is written any more.
#[derive(Clone)]
pub(super) enum Failure {
    Refused(StreamProblem),
    Backend(Arc<BackendError>),
}

impl Failure {
    fn error(&self) -> EmitError {
        match self {
            Self::Refused(problem) => EmitError::Refused(problem.clone()),
            Self::Backend(error) => EmitError::Backend(error.for_others()),
        }
    }
}

impl Outlet {
    /// Where an attempt writes.
    pub(crate) fn new(backend: Arc<dyn Backend>, lease: &TaskLease, limits: Limits) -> Self {
        let place = Some(TaskStream::new(backend, lease, limits));
        Self(Arc::new(Shared { place, ..Shared::default() }))
    }

    pub(super) async fn send(&self, chunk: Vec<u8>) -> Result<(), EmitError> {
        let Some(place) = &self.0.place else {
            self.0.lock().waiting.push_back(chunk);
            return Ok(());
        };
        place.check(&chunk).map_err(EmitError::Refused)?;
        self.wait_for_room().await?;
        let begins = self.0.push(chunk)?;
        if begins {
            writing::begin(&self.0, place).await;
        }
        Ok(())
    }

    async fn wait_for_room(&self) -> Result<(), EmitError> {
        loop {
            let written = self.0.written.notified();
            if self.0.check()?.has_room() {
                return Ok(());
            }
            written.await;
        }
    }

    pub(super) async fn flush(&self) -> Result<(), EmitError> {
        while self.0.place.is_some() {
            let written = self.0.written.notified();
            if !self.0.check()?.is_writing {
                break;
            }
            written.await;
        }
        Ok(())
    }

    /// The attempt has ended like this: writes what waits, and that it ended. Of a task that `is_done`, readers see that by themselves.
    pub(crate) async fn finish(&self, end: End, is_done: bool) -> Result<(), EmitError> {
        let Some(place) = &self.0.place else { return Ok(()) };
        let sent = self.end().await?;
        // What an earlier attempt said has to be replaced.
        let is_silent = sent == 0 && place.attempt == 1;
        if is_silent && is_done { Ok(()) } else { place.close(end).await }
    }

    /// Nothing can be sent from now on, also by clones in other tasks of the step: what they were told is sent has to be written. Ready
    /// when everything is. How much that was.
    async fn end(&self) -> Result<u64, EmitError> {
        self.0.lock().has_ended = true;
        loop {
            let written = self.0.written.notified();
            if let Some(sent) = self.0.all_sent()? {
                return Ok(sent);
            }
            written.await;
        }
    }

    pub(super) fn kept(&self) -> Vec<String> {
        let state = self.0.lock();
        state.waiting.iter().map(|chunk| String::from_utf8_lossy(chunk).into_owned()).collect()
    }
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is waiting, unless nothing can be written any more.
    fn check(&self) -> Result<MutexGuard<'_, State>, EmitError> {
        let state = self.lock();
        match &state.failure {
            Some(failure) => Err(failure.error()),
            None if state.has_ended => Err(EmitError::Ended),
            None => Ok(state),
        }
    }

    /// How much was sent, once all of it is written.
    fn all_sent(&self) -> Result<Option<u64>, EmitError> {
        let state = self.lock();
        match &state.failure {
            Some(failure) => Err(failure.error()),
            None => Ok((!state.is_writing).then_some(state.sent)),
        }
    }

    /// Adds a chunk; whether somebody has to begin to write.
    fn push(&self, chunk: Vec<u8>) -> Result<bool, EmitError> {
        let mut state = self.check()?;
        state.bytes += chunk.len();
        state.waiting.push_back(chunk);
        Ok(!std::mem::replace(&mut state.is_writing, true))
    }
}

impl State {
    /// Nothing is written any more.
    pub(super) fn fail(&mut self, failure: Failure) {
        self.failure = Some(failure);
        self.waiting.clear();
    }

    fn has_room(&self) -> bool {
        self.waiting.len() < MOST_CHUNKS && self.bytes < MOST_BYTES
    }
}

impl fmt::Debug for Outlet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Outlet")
    }
}
