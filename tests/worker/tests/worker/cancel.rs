//! Runs that are cancelled while their handlers run.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pgflow::prelude::*;
use pgflow::{CancelOutcome, Worker};
use pgflow_worker_tests::{Fresh, Outcome, Working, everywhere};
use tokio::sync::Notify;

/// Says when a handler began, and when it was told to stop.
#[derive(Clone, Default)]
struct Bells {
    began: Arc<Notify>,
    told: Arc<Notify>,
}

// Heartbeats come every 15 s.
#[flow(timeout = 120, max_attempts = 1)]
mod patient {
    use super::*;

    #[step]
    pub(crate) async fn wait(ctx: Context, State(bells): State<Bells>) -> Result<u8> {
        bells.began.notify_one();
        ctx.cancelled().await;
        bells.told.notify_one();
        Ok(1)
    }
}

async fn a_handler_is_told_before_its_next_heartbeat(fresh: Fresh) -> Outcome {
    let bells = Bells::default();
    fresh.db.register(patient::Flow).await?;
    let worker = Worker::new(&fresh.db).flow(patient::Flow).state(bells.clone());
    let worker = Working::start(worker);
    let run = fresh.db.start(patient::Flow, &()).await?;
    bells.began.notified().await;
    let since = Instant::now();
    assert_eq!(run.cancel(None).await?, CancelOutcome::Cancelled);
    bells.told.notified().await;
    assert!(
        since.elapsed() < Duration::from_secs(14),
        "it was the heartbeat: {:?}",
        since.elapsed()
    );
    worker.stop().await?;
    Ok(())
}

everywhere!(a_handler_is_told_before_its_next_heartbeat);
