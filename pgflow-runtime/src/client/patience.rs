//! Asking again when a database does not answer.

use std::sync::Arc;
use std::time::Duration;

use crate::backend::{Backend, BackendError, Reply};
use crate::backoff::Backoff;
use crate::db::Db;
use crate::tx::Scope;

/// How often a call is made before its error is passed on: for about ten seconds.
const TRIES: u32 = 7;

/// The answer to a call that may be repeated.
///
/// It runs as a task of its own. A call that somebody stopped polling, as `select!` does, would otherwise keep
/// its connection while another call of the same program waits for one.
pub(super) async fn patiently<T: Send + 'static>(
    db: &Db,
    call: impl for<'a> Fn(&'a dyn Backend) -> Reply<'a, T> + Send + Sync + 'static,
) -> Result<T, BackendError> {
    let backend = db.backend().clone();
    // What is in memory holds no connection, and tests of flows use it without a runtime that could run a task.
    if !backend.abilities().multi_process {
        return ask(backend, call).await;
    }
    let asked = tokio::spawn(Scope::here().around(ask(backend, call)));
    // It is only cancelled when the runtime shuts down.
    asked.await.unwrap_or_else(|error| Err(BackendError::Unreachable(error.into())))
}

async fn ask<T>(
    backend: Arc<dyn Backend>,
    call: impl for<'a> Fn(&'a dyn Backend) -> Reply<'a, T>,
) -> Result<T, BackendError> {
    let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(4));
    loop {
        match call(&*backend).await {
            Err(error) if error.is_temporary() && backoff.failures() + 1 < TRIES => {
                tokio::time::sleep(backoff.next()).await;
            }
            answer => return answer,
        }
    }
}
