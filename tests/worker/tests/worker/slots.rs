//! How much runs at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pgflow::prelude::*;
use pgflow_worker_tests::{Fresh, Outcome, Working, everywhere};

/// How many handlers run, and how many did at most.
#[derive(Clone, Default)]
struct Gauge(Arc<(AtomicUsize, AtomicUsize)>);

impl Gauge {
    async fn hold(&self) {
        let now = self.0.0.fetch_add(1, Ordering::SeqCst) + 1;
        self.0.1.fetch_max(now, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(30)).await;
        self.0.0.fetch_sub(1, Ordering::SeqCst);
    }

    fn most(&self) -> usize {
        self.0.1.load(Ordering::SeqCst)
    }
}

#[derive(Clone, Default)]
struct Gauges {
    all: Gauge,
    rare: Gauge,
}

#[flow(input = Vec<u32>)]
mod crowd {
    use super::*;

    #[step(map)]
    pub(crate) async fn often(item: u32, gauges: State<Gauges>) -> Result<u32> {
        gauges.all.hold().await;
        Ok(item)
    }

    #[step(map)]
    pub(crate) async fn rarely(item: u32, gauges: State<Gauges>) -> Result<u32> {
        tokio::join!(gauges.all.hold(), gauges.rare.hold());
        Ok(item)
    }
}

everywhere!(neither_the_worker_nor_a_step_does_too_much_at_once);

async fn neither_the_worker_nor_a_step_does_too_much_at_once(fresh: Fresh) -> Outcome {
    let (db, gauges) = (&fresh.db, Gauges::default());
    db.register(crowd::Flow).await?;
    let worker = Worker::new(db).flow(crowd::Flow).state(gauges.clone());
    let worker = worker.concurrency(6).limit::<crowd::rarely>(2);
    let health = worker.health();
    let run = db.start(crowd::Flow, &(0..40).collect::<Vec<_>>()).await?;
    let worker = Working::start(worker);
    let output = run.output().await?;
    assert!(output.often.into_iter().eq(0..40) && output.rarely.into_iter().eq(0..40));
    assert_eq!(gauges.rare.most(), 2, "the limit is used, and kept");
    assert!((4..=6).contains(&gauges.all.most()), "{}", gauges.all.most());
    let snapshot = health.snapshot();
    assert!(snapshot.last_claim.is_some() && snapshot.last_error.is_none());
    assert_eq!(worker.stop().await?.settled, 80);
    assert_eq!(health.snapshot().phase, pgflow::worker::Phase::Stopped);
    Ok(())
}
