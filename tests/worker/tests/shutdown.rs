//! How a worker stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pgflow::prelude::*;
use pgflow_worker_tests::{Fresh, Outcome, Working, everywhere};

/// Whether handlers end by themselves.
#[derive(Clone, Default)]
struct Patience(Arc<AtomicBool>);

#[flow(input = Vec<u32>, max_attempts = 1, timeout = 60)]
mod slow {
    use super::*;

    #[step(map)]
    pub(crate) async fn work(
        item: u32,
        ctx: Context,
        State(patience): State<Patience>,
    ) -> Result<u32> {
        while !patience.0.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(item * 10 + ctx.attempt())
    }
}

everywhere!(
    what_ends_in_time_is_recorded,
    what_does_not_end_is_given_back_without_using_up_an_attempt,
    a_second_request_stops_at_once,
);

/// A worker with three handlers that run, of five tasks.
async fn busy(
    fresh: &Fresh,
    grace: Duration,
) -> Outcome<(pgflow::Run<slow::Flow>, Worker, Patience)> {
    let (db, patience) = (&fresh.db, Patience::default());
    db.register(slow::Flow).await?;
    let run = db.start(slow::Flow, &vec![1, 2, 3, 4, 5]).await?;
    let worker = Worker::new(db).flow(slow::Flow).state(patience.clone());
    Ok((run, worker.concurrency(3).grace(grace), patience))
}

async fn until_running(health: &pgflow::Health, running: usize) -> Outcome {
    let all_run = async {
        while health.snapshot().running != running {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    Ok(tokio::time::timeout(Duration::from_secs(20), all_run).await?)
}

async fn what_ends_in_time_is_recorded(fresh: Fresh) -> Outcome {
    let (_run, worker, patience) = busy(&fresh, Duration::from_secs(30)).await?;
    let health = worker.health();
    let worker = Working::start(worker);
    until_running(&health, 3).await?;
    let stopping = tokio::spawn(worker.stop());
    tokio::time::sleep(Duration::from_millis(50)).await;
    patience.0.store(true, Ordering::SeqCst);
    let report = stopping.await??;
    assert_eq!((report.settled, report.released, report.lost), (3, 0, 0), "{report}");
    Ok(())
}

async fn what_does_not_end_is_given_back_without_using_up_an_attempt(fresh: Fresh) -> Outcome {
    let (run, worker, patience) = busy(&fresh, Duration::from_millis(50)).await?;
    let health = worker.health();
    let worker = Working::start(worker);
    until_running(&health, 3).await?;
    let report = worker.stop().await?;
    assert_eq!((report.settled, report.released, report.lost), (0, 3, 0), "{report}");
    patience.0.store(true, Ordering::SeqCst);
    let next = Worker::new(&fresh.db).flow(slow::Flow).state(patience);
    let next = Working::start(next);
    let mut output = run.output().await?.work;
    output.sort_unstable_by_key(|number| number % 10);
    let attempts: Vec<_> = output.iter().map(|number| number % 10).collect();
    assert_eq!(attempts, [1, 1, 2, 2, 2], "there is one attempt, and it was not used up");
    next.stop().await?;
    Ok(())
}

async fn a_second_request_stops_at_once(fresh: Fresh) -> Outcome {
    let (_run, worker, _patience) = busy(&fresh, Duration::from_mins(10)).await?;
    let (health, since) = (worker.health(), Instant::now());
    let (first, second) =
        (Arc::new(tokio::sync::Notify::new()), Arc::new(tokio::sync::Notify::new()));
    let signals = (first.clone(), second.clone());
    let working = tokio::spawn(worker.run_until(
        async move {
            signals.0.notified().await;
        },
        async move {
            signals.1.notified().await;
        },
    ));
    until_running(&health, 3).await?;
    first.notify_one();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!working.is_finished(), "handlers have ten minutes");
    second.notify_one();
    let report = working.await??;
    assert_eq!((report.released, report.lost), (3, 0), "{report}");
    assert!(since.elapsed() < Duration::from_secs(30));
    Ok(())
}
