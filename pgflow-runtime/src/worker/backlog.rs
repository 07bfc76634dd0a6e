//! What waits, for those who watch.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use metrics::gauge;
use tokio::time::sleep;

use super::metrics::{OLDEST_SECONDS, OPEN_RUNS, OPEN_TASKS, QUEUE_DEPTH, QUEUE_OLDEST, gauged};
use crate::backend::Backend;
use pgflow_backend::backoff::jittered;

/// A shorter interval is not used: the database has other things to do.
const SHORTEST: Duration = Duration::from_secs(1);

/// Looks every so often, as long as it is polled. When the database does not answer, gauges show what they did.
pub(super) async fn watch(
    backend: Arc<dyn Backend>,
    flows: Vec<&'static str>,
    queues: Vec<&'static str>,
    every: Option<Duration>,
) -> Infallible {
    let Some(every) = every else { return std::future::pending().await };
    loop {
        watch_queues(backend.as_ref(), &queues).await;
        for version in backend.versions(&flows).await.unwrap_or_default() {
            let flow = version.slug;
            let oldest = version.oldest.unwrap_or_default().as_secs_f64();
            gauge!(OPEN_RUNS, "flow" => flow.clone()).set(count(version.open_runs));
            gauge!(OPEN_TASKS, "flow" => flow.clone()).set(count(version.open_tasks));
            gauge!(OLDEST_SECONDS, "flow" => flow).set(oldest);
        }
        sleep(jittered(every.max(SHORTEST))).await;
    }
}

/// Jobs that are looked at for that.
const MOST: u64 = 1_000_000;

async fn watch_queues(backend: &dyn Backend, queues: &[&'static str]) {
    if queues.is_empty() {
        return;
    }
    let Ok(upkeep) = backend.job_upkeep() else { return };
    let Ok(depths) = upkeep.job_depths(MOST).await else { return };
    for queue in queues {
        let found = depths.needs.iter().find(|depth| depth.need == *queue);
        let depth = found.map_or(0, |depth| depth.live() - depth.running);
        let oldest = found.and_then(|depth| depth.first_ready).unwrap_or_default();
        gauge!(QUEUE_DEPTH, "queue" => *queue).set(count(depth));
        gauge!(QUEUE_OLDEST, "queue" => *queue).set(oldest.as_secs_f64());
    }
}

fn count(number: u64) -> f64 {
    gauged(usize::try_from(number).unwrap_or(usize::MAX))
}
