//! Asking again when a database does not answer.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::AbortHandle;

use crate::backend::{Backend, BackendError, Reply};
use crate::calls;
use crate::db::Db;
use crate::tx::Scope;
use pgflow_backend::backoff::Backoff;

/// How often a call is made before its error is passed on: for about ten seconds.
const TRIES: u32 = 7;

/// The answer to a call that may be repeated.
///
/// It runs as a task of its own, where [calls] do. A call that is not polled, because of `select!` or of handlers that block all
/// threads, would otherwise keep its connection while another call of the same program waits for one.
pub(super) async fn patiently<T: Send + 'static>(
    db: &Db,
    call: impl for<'a> Fn(&'a dyn Backend) -> Reply<'a, T> + Send + Sync + 'static,
) -> Result<T, BackendError> {
    call_apart(db, call, false).await
}

/// As [`patiently`]. Dropping it takes the call back: if the database has not got it yet, it never will.
pub(super) async fn unless_dropped<T: Send + 'static>(
    db: &Db,
    call: impl for<'a> Fn(&'a dyn Backend) -> Reply<'a, T> + Send + Sync + 'static,
) -> Result<T, BackendError> {
    call_apart(db, call, true).await
}

async fn call_apart<T: Send + 'static>(
    db: &Db,
    call: impl for<'a> Fn(&'a dyn Backend) -> Reply<'a, T> + Send + Sync + 'static,
    is_withdrawn: bool,
) -> Result<T, BackendError> {
    let backend = db.backend().clone();
    // What is in memory holds no connection, and tests of flows use it without a runtime that could run a task.
    if !backend.abilities().holds_connections {
        return ask(backend, call).await;
    }
    let asked = calls::spawn(Scope::here().around(ask(backend, call)));
    let _withdrawn = is_withdrawn.then(|| Withdrawn(asked.abort_handle()));
    // It is not cancelled while it is waited for.
    asked.await.unwrap_or_else(|error| Err(BackendError::Unreachable(error.into())))
}

/// Ends a call when it is dropped.
struct Withdrawn(AbortHandle);

impl Drop for Withdrawn {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// As [`patiently`], in the caller's own task.
pub(super) async fn ask<T>(
    backend: Arc<dyn Backend>,
    call: impl for<'a> Fn(&'a dyn Backend) -> Reply<'a, T>,
) -> Result<T, BackendError> {
    again(|| call(&*backend)).await
}

/// Calls until there is an answer, for as long as anybody here is patient.
pub(crate) async fn again<T, F: Future<Output = Result<T, BackendError>>>(
    mut call: impl FnMut() -> F,
) -> Result<T, BackendError> {
    let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(4));
    loop {
        match call().await {
            Err(error) if error.is_temporary() && backoff.failures() + 1 < TRIES => {
                tokio::time::sleep(backoff.next()).await;
            }
            answer => return answer,
        }
    }
}
