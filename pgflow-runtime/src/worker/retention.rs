//! Deleting runs that are old enough.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use pgflow_model::with_causes;
use tokio::time::sleep;

use crate::backend::{Backend, BackendError};
use crate::client::BATCH;
use pgflow_backend::backoff::jittered;

/// Soon after the start, but not all processes of a deployment at once.
const FIRST: Duration = Duration::from_mins(1);
const EVERY: Duration = Duration::from_hours(1);
/// Between two batches, so that others get their turn.
const PAUSE: Duration = Duration::from_millis(50);

/// Prunes every hour, as long as it is polled.
pub(super) async fn retain(backend: Arc<dyn Backend>, days: Option<u32>) -> Infallible {
    let Some(days) = days else { return std::future::pending().await };
    let age = Duration::from_hours(24) * days;
    sleep(jittered(FIRST)).await;
    loop {
        match prune(&*backend, age).await {
            Ok(0) => {}
            Ok(runs) => tracing::info!(runs, days, "deleted runs that ended long ago"),
            Err(error) => {
                let error = with_causes(&error);
                tracing::warn!(error, days, "cannot delete runs that ended long ago");
            }
        }
        sleep(jittered(EVERY)).await;
    }
}

async fn prune(backend: &dyn Backend, age: Duration) -> Result<u64, BackendError> {
    let mut pruned = 0;
    loop {
        let batch = backend.prune(age, BATCH).await?;
        pruned += batch;
        if batch < u64::from(BATCH) {
            return Ok(pruned);
        }
        sleep(PAUSE).await;
    }
}
