//! Where calls of a database are made that nobody may hold up.
//!
//! A call that is under way has a connection, and on SQLite perhaps the write lock. On the application's runtime handlers
//! that block all threads would keep it from being polled, and with that a worker from its heartbeats. So calls have a
//! runtime of their own, one for the process, on which nothing but calls runs.

use std::sync::mpsc;
use std::sync::{Arc, OnceLock};

use tokio::runtime::{Builder, Handle};
use tokio::task::JoinHandle;
use tracing::instrument::WithSubscriber;

use crate::backend::{Backend, BackendError, Reply};

/// Makes a call there, as a task that goes on if nobody waits for it.
pub(crate) fn spawn<T: Send + 'static>(
    call: impl Future<Output = T> + Send + 'static,
) -> JoinHandle<T> {
    let call = call.with_current_subscriber();
    match runtime() {
        Some(runtime) => runtime.spawn(call),
        None => tokio::spawn(call),
    }
}

/// The answer to a call that is made there.
pub(crate) async fn apart<T: Send + 'static>(
    backend: &Arc<dyn Backend>,
    call: impl for<'a> FnOnce(&'a dyn Backend) -> Reply<'a, T> + Send + 'static,
) -> Result<T, BackendError> {
    // What is in memory holds no connection, and tests of flows use it without a runtime that could run a task.
    if !backend.abilities().holds_connections {
        return call(&**backend).await;
    }
    let backend = Arc::clone(backend);
    let answer = spawn(async move { call(&*backend).await }).await;
    answer.unwrap_or_else(|error| Err(BackendError::Unreachable(error.into())))
}

/// The runtime, unless the system has no thread for it.
fn runtime() -> Option<&'static Handle> {
    static RUNTIME: OnceLock<Option<Handle>> = OnceLock::new();
    RUNTIME.get_or_init(start).as_ref()
}

fn start() -> Option<Handle> {
    let (sender, handle) = mpsc::sync_channel(1);
    let body = move || match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => {
            let _ = sender.send(runtime.handle().clone());
            runtime.block_on(std::future::pending::<()>());
        }
        Err(error) => tracing::warn!(%error, "calls have no runtime of their own"),
    };
    let thread = std::thread::Builder::new().name("pgflow-calls".to_owned()).spawn(body);
    thread.ok().and_then(|_| handle.recv().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_call_ends_while_this_thread_is_blocked() {
        let (sender, done) = mpsc::channel();
        let call = spawn(async move {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            sender.send(std::thread::current().name().map(str::to_owned))
        });
        let name = done.recv_timeout(std::time::Duration::from_mins(1)).expect("it ends");
        assert_eq!(name.as_deref(), Some("pgflow-calls"));
        assert!(matches!(call.await, Ok(Ok(()))));
    }
}
