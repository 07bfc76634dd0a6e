//! What waits, for those who watch.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use metrics::gauge;
use tokio::time::sleep;

use super::metrics::{OLDEST_SECONDS, OPEN_RUNS, OPEN_TASKS, gauged};
use crate::backend::Backend;
use pgflow_backend::backoff::jittered;

/// However often somebody wants to know, the database has other things to do.
const SHORTEST: Duration = Duration::from_secs(1);

/// Looks every so often, as long as it is polled. When the database does not answer, gauges show what they did.
pub(super) async fn watch(
    backend: Arc<dyn Backend>,
    flows: Vec<&'static str>,
    every: Option<Duration>,
) -> Infallible {
    let Some(every) = every else { return std::future::pending().await };
    loop {
        for version in backend.versions(&flows).await.unwrap_or_default() {
            let flow = version.slug;
            let count = |number: u64| gauged(usize::try_from(number).unwrap_or(usize::MAX));
            let oldest = version.oldest.unwrap_or_default().as_secs_f64();
            gauge!(OPEN_RUNS, "flow" => flow.clone()).set(count(version.open_runs));
            gauge!(OPEN_TASKS, "flow" => flow.clone()).set(count(version.open_tasks));
            gauge!(OLDEST_SECONDS, "flow" => flow).set(oldest);
        }
        sleep(jittered(every.max(SHORTEST))).await;
    }
}
