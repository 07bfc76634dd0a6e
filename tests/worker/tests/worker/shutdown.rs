//! How a worker stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pgflow::prelude::*;
use pgflow::worker::Phase;
use pgflow_worker_tests::{Flaky, Fresh, Mood, Outcome, Working, everywhere};

/// Whether handlers end by themselves; and how many there are.
#[derive(Clone, Default)]
struct Patience(Arc<AtomicBool>, Arc<()>);

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
    a_worker_that_is_dropped_leaves_no_handler_behind,
    no_grace_period_is_too_long,
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

async fn until_running(health: &pgflow::worker::Health, running: usize) -> Outcome {
    until(|| health.snapshot().running == running).await
}

/// It takes no more tasks from here on.
async fn until_draining(health: &pgflow::worker::Health) -> Outcome {
    until(|| health.snapshot().phase == Phase::Draining).await
}

async fn until(happened: impl Fn() -> bool) -> Outcome {
    let all = async {
        while !happened() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    Ok(tokio::time::timeout(Duration::from_mins(1), all).await?)
}

async fn what_ends_in_time_is_recorded(fresh: Fresh) -> Outcome {
    let (_run, worker, patience) = busy(&fresh, Duration::from_secs(30)).await?;
    let health = worker.health();
    let worker = Working::start(worker);
    until_running(&health, 3).await?;
    let stopping = tokio::spawn(worker.stop());
    until_draining(&health).await?;
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
    let health = worker.health();
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
    until_draining(&health).await?;
    assert!(!working.is_finished(), "handlers have ten minutes");
    second.notify_one();
    let report = tokio::time::timeout(Duration::from_mins(5), working).await???;
    assert_eq!((report.released, report.lost), (3, 0), "{report}");
    Ok(())
}

async fn a_worker_that_is_dropped_leaves_no_handler_behind(fresh: Fresh) -> Outcome {
    let (_run, worker, patience) = busy(&fresh, Duration::from_mins(10)).await?;
    let (health, running) = (worker.health(), patience.1.clone());
    assert_eq!(health.snapshot().phase, Phase::Starting);
    drop(patience);
    let working = tokio::spawn(worker.run(std::future::pending()));
    until_running(&health, 3).await?;
    // A handler counts as running a moment before it is given its state.
    until(|| Arc::strong_count(&running) > 3).await?;
    working.abort();
    assert!(working.await.is_err_and(|error| error.is_cancelled()));
    until(|| Arc::strong_count(&running) == 1).await?;
    // The worker's own thread gives up its handlers first, and says that it has stopped afterwards.
    until(|| {
        let health = health.snapshot();
        (health.phase, health.running) == (Phase::Stopped, 0)
    })
    .await
}

async fn no_grace_period_is_too_long(fresh: Fresh) -> Outcome {
    let (_run, worker, patience) = busy(&fresh, Duration::MAX).await?;
    let health = worker.health();
    let worker = Working::start(worker);
    until_running(&health, 3).await?;
    let stopping = tokio::spawn(worker.stop());
    until_draining(&health).await?;
    patience.0.store(true, Ordering::SeqCst);
    assert_eq!(stopping.await??.settled, 3);
    Ok(())
}

/// A worker whose database is gone when it is asked to stop, and how long that takes.
async fn stop_without_database(grace: Option<Duration>, is_busy: bool) -> Outcome<Duration> {
    let flaky = Flaky::in_virtual_time();
    let (db, patience) = (Db::new(flaky.clone()), Patience::default());
    db.register(slow::Flow).await?;
    let worker = Worker::new(&db).flow(slow::Flow).state(patience.clone());
    let worker = if let Some(grace) = grace { worker.grace(grace) } else { worker };
    let health = worker.health();
    let worker = Working::start(worker);
    db.start(slow::Flow, &vec![1]).await?;
    until_running(&health, 1).await?;
    for method in ["claim", "settle", "heartbeat", "sweep", "release_unknown"] {
        flaky.set(method, Mood::Down, u32::MAX);
    }
    patience.0.store(!is_busy, Ordering::SeqCst);
    until_running(&health, usize::from(is_busy)).await?;
    let since = tokio::time::Instant::now();
    let report = worker.stop().await?;
    assert!(!report.is_clean(), "{report}");
    assert_eq!(health.snapshot().phase, Phase::Stopped);
    Ok(since.elapsed())
}

#[tokio::test(start_paused = true)]
async fn without_a_database_and_handlers_nobody_waits_for_the_grace_period() -> Outcome {
    let took = stop_without_database(Some(Duration::from_mins(10)), false).await?;
    assert!(took < Duration::from_secs(10), "{took:?}");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_takes_less_than_kubernetes_gives() -> Outcome {
    let took = stop_without_database(None, true).await?;
    assert!(took > Duration::from_secs(20) && took < Duration::from_secs(29), "{took:?}");
    Ok(())
}

#[tokio::test]
async fn a_worker_that_never_had_a_task_is_idle() -> Outcome {
    let fresh = Fresh::memory().await?;
    fresh.db.register(slow::Flow).await?;
    let worker = Worker::new(&fresh.db).flow(slow::Flow).state(Patience::default());
    let health = worker.health();
    assert_eq!(health.snapshot().idle_since, None, "it has not begun");
    let worker = Working::start(worker);
    while health.snapshot().last_claim.is_none() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(health.snapshot().idle_since.is_some());
    worker.stop().await?;
    Ok(())
}
