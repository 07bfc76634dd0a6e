//! Deleting runs and dead messages that are old enough, streams whose time is over, and keys that fair queues have caught up with.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use pgflow_model::with_causes;
use tokio::time::sleep;

use crate::backend::{Backend, BackendError};
use crate::client::{BATCH, in_batches};
use crate::pipeline::{Keeping, prune_dead};
use pgflow_backend::backoff::jittered;

/// Soon after the start, but not all processes of a deployment at once.
const FIRST: Duration = Duration::from_mins(1);
const EVERY: Duration = Duration::from_hours(1);
/// Between two batches, so that others get their turn.
const PAUSE: Duration = Duration::from_millis(50);

/// Prunes every hour, as long as it is polled: runs only where somebody says how old they may get.
pub(super) async fn retain(
    backend: Arc<dyn Backend>,
    days: Option<u32>,
    keeping: Vec<Keeping>,
    queues: Vec<&'static str>,
) -> Infallible {
    sleep(jittered(FIRST)).await;
    loop {
        if let Err(error) = prune_streams(&*backend).await {
            let error = with_causes(&error);
            tracing::warn!(error, "cannot delete streams whose time is over");
        }
        if let Some(days) = days {
            retain_runs(&*backend, days).await;
        }
        for Keeping { need, keep } in &keeping {
            match prune_dead(&*backend, need, *keep).await {
                Ok(0) => {}
                Ok(messages) => tracing::info!(messages, queue = need, "deleted dead messages"),
                Err(error) => {
                    let error = with_causes(&error);
                    tracing::warn!(error, queue = need, "cannot delete dead messages");
                }
            }
        }
        for queue in &queues {
            if let Err(error) = prune_turns(&*backend, queue).await {
                let error = with_causes(&error);
                tracing::warn!(
                    error,
                    queue,
                    "cannot forget keys that its queue has caught up with"
                );
            }
        }
        sleep(jittered(EVERY)).await;
    }
}

async fn prune_turns(backend: &dyn Backend, queue: &str) -> Result<(), BackendError> {
    while backend.pipelines()?.prune_turns(queue, BATCH).await? >= u64::from(BATCH) {
        sleep(PAUSE).await;
    }
    Ok(())
}

async fn retain_runs(backend: &dyn Backend, days: u32) {
    let age = Duration::from_hours(24) * days;
    match in_batches(PAUSE, |most| backend.prune(age, most)).await {
        Ok(0) => {}
        Ok(runs) => tracing::info!(runs, days, "deleted runs that ended long ago"),
        Err(error) => {
            let error = with_causes(&error);
            tracing::warn!(error, days, "cannot delete runs that ended long ago");
        }
    }
}

async fn prune_streams(backend: &dyn Backend) -> Result<(), BackendError> {
    let Ok(streams) = backend.streams() else { return Ok(()) };
    while streams.prune_streams(BATCH).await? >= u64::from(BATCH) {
        sleep(PAUSE).await;
    }
    Ok(())
}
