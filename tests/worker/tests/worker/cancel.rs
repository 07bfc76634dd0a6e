//! Runs that are cancelled while their handlers run.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pgflow::prelude::*;
use pgflow::{Worker, client::CancelOutcome};
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

/// A busy machine may take longer than a heartbeat once, but not every time.
async fn a_handler_is_told_before_its_next_heartbeat(fresh: Fresh) -> Outcome {
    let bells = Bells::default();
    fresh.db.register(patient::Flow).await?;
    let worker = Worker::new(&fresh.db).flow(patient::Flow).state(bells.clone());
    let worker = Working::start(worker);
    let mut took = Duration::MAX;
    for _ in 0..4 {
        took = took.min(told_after(&fresh.db, &bells).await?);
        if took < Duration::from_secs(14) {
            worker.stop().await?;
            return Ok(());
        }
    }
    panic!("it was the heartbeat, each time: {took:?}");
}

/// How long after the cancel of its run a handler is told.
async fn told_after(db: &Db, bells: &Bells) -> Outcome<Duration> {
    let run = db.start(patient::Flow, &()).await?;
    bells.began.notified().await;
    let since = Instant::now();
    assert_eq!(run.cancel(None).await?, CancelOutcome::Cancelled);
    bells.told.notified().await;
    Ok(since.elapsed())
}

everywhere!(a_handler_is_told_before_its_next_heartbeat);
