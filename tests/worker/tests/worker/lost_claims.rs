//! Claims whose answer gets lost after they were committed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use pgflow::prelude::*;
use pgflow_worker_tests::{Flaky, Mood, Outcome, Working};
use tokio::time::Instant;

/// How often handlers ran, and the number of the last attempt.
#[derive(Clone, Default)]
struct Seen(Arc<(AtomicU32, AtomicU32)>);

impl Seen {
    fn runs(&self) -> u32 {
        self.0.0.load(Ordering::SeqCst)
    }

    fn attempt(&self) -> u32 {
        self.0.1.load(Ordering::SeqCst)
    }
}

// One attempt, and a lease of a minute: what is lost must not have to wait for it.
#[flow(slug = "fragile_lost_claims", input = u32, max_attempts = 1, timeout = 58)]
mod fragile {
    use super::*;

    #[step]
    pub(crate) async fn one(run: u32, ctx: Context, State(seen): State<Seen>) -> Result<u32> {
        seen.0.0.fetch_add(1, Ordering::SeqCst);
        seen.0.1.store(ctx.attempt(), Ordering::SeqCst);
        Ok(run)
    }

    #[step(depends_on = [one])]
    pub(crate) async fn two(one: u32) -> Result<u32> {
        Ok(one + 1)
    }
}

async fn start() -> Outcome<(Flaky, Db, Working, Seen)> {
    let (flaky, seen) = (Flaky::in_virtual_time(), Seen::default());
    let db = Db::new(flaky.clone());
    db.register(fragile::Flow).await?;
    let worker = Worker::new(&db).flow(fragile::Flow).state(seen.clone());
    Ok((flaky, db, Working::start(worker), seen))
}

/// Claims so far, with a sweep or without.
fn claims(flaky: &Flaky) -> u32 {
    flaky.calls("claim") + flaky.calls("sweep_and_claim")
}

/// Waits until something has happened.
async fn until(happened: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_mins(1);
    while !happened() {
        assert!(Instant::now() < end, "it does not happen");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Four losses of a worker end a step as stalled. These are none, however many there are.
#[tokio::test(start_paused = true)]
async fn tasks_of_lost_claims_are_given_back() -> Outcome {
    let (flaky, db, worker, seen) = start().await?;
    let run = db.start(fragile::Flow, &1).await?;
    flaky.set("claim", Mood::AnswerLost, 6);
    let since = Instant::now();
    assert_eq!(run.output().await?.two, 2);
    assert!(since.elapsed() < Duration::from_secs(20), "no lease was waited for");
    assert_eq!((seen.runs(), seen.attempt()), (1, 7), "six attempts were given back");
    let report = worker.stop().await?;
    assert_eq!((report.settled, report.released, report.lost), (2, 6, 0), "{report}");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn so_are_those_that_were_claimed_along_with_results() -> Outcome {
    let (flaky, db, worker, seen) = start().await?;
    let run = db.start(fragile::Flow, &1).await?;
    flaky.set("settle", Mood::AnswerLost, 1);
    assert_eq!(run.output().await?.two, 2);
    assert_eq!(seen.runs(), 1, "the result was recorded the first time");
    let report = worker.stop().await?;
    assert_eq!((report.settled, report.released, report.lost), (2, 1, 0), "{report}");
    Ok(())
}

/// The transaction of the lost claim ends only after the worker has asked for the first time.
#[tokio::test(start_paused = true)]
async fn it_is_asked_again_for_claims_that_are_committed_late() -> Outcome {
    let (flaky, db, worker, seen) = start().await?;
    flaky.set("claim", Mood::AnswerLate, 1);
    until(|| flaky.calls("release_unknown") == 1).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    let (run, since) = (db.start(fragile::Flow, &1).await?, Instant::now());
    assert_eq!(run.output().await?.two, 2);
    assert!(since.elapsed() < Duration::from_secs(20), "no lease was waited for");
    assert_eq!((seen.runs(), seen.attempt()), (1, 2));
    let report = worker.stop().await?;
    assert_eq!((report.settled, report.released, report.lost), (2, 1, 0), "{report}");
    Ok(())
}

/// What a worker knows of is not taken from it, though it is asked about while a handler runs.
#[tokio::test(start_paused = true)]
async fn a_question_takes_nothing_from_running_handlers() -> Outcome {
    let (flaky, seen) = (Flaky::in_virtual_time(), Seen::default());
    let db = Db::new(flaky.clone());
    db.register(slow::Flow).await?;
    let worker = Working::start(Worker::new(&db).flow(slow::Flow).state(seen.clone()));
    let run = db.start(slow::Flow, &()).await?;
    until(|| seen.runs() == 1).await;
    flaky.set("claim", Mood::AnswerLost, 3);
    assert_eq!(run.output().await?.nap, 1, "the only attempt");
    assert!(flaky.calls("release_unknown") >= 3);
    assert_eq!(seen.runs(), 1);
    assert_eq!(worker.stop().await?.released, 0);
    Ok(())
}

#[flow(slug = "slow_lost_claims", max_attempts = 1, timeout = 58)]
mod slow {
    use super::*;

    #[step]
    pub(crate) async fn nap(ctx: Context, State(seen): State<Seen>) -> Result<u32> {
        seen.0.0.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_secs(40)).await;
        Ok(ctx.attempt())
    }
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_stops_gives_them_back_before_it_goes() -> Outcome {
    let (flaky, db, worker, seen) = start().await?;
    flaky.set("claim", Mood::AnswerLost, 1);
    flaky.set("release_unknown", Mood::Down, 2);
    let run = db.start(fragile::Flow, &1).await?;
    let before = claims(&flaky);
    until(|| claims(&flaky) > before).await;
    let report = worker.stop().await?;
    assert_eq!((report.released, report.lost), (1, 0), "{report}");
    let other = Working::start(Worker::new(&db).flow(fragile::Flow).state(seen.clone()));
    assert_eq!(run.output().await?.two, 2);
    assert_eq!((seen.runs(), seen.attempt()), (1, 2));
    other.stop().await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn or_says_after_ten_seconds_that_it_does_not_know() -> Outcome {
    let (flaky, _, worker, _) = start().await?;
    tokio::time::sleep(Duration::from_secs(3)).await;
    flaky.set("claim", Mood::Down, u32::MAX);
    flaky.set("release_unknown", Mood::Down, u32::MAX);
    tokio::time::sleep(Duration::from_secs(3)).await;
    let since = Instant::now();
    let report = worker.stop().await?;
    assert!(since.elapsed() < Duration::from_secs(11), "{:?}", since.elapsed());
    assert_eq!(report.lost, 1, "{report}");
    Ok(())
}

/// As with a database whose functions are older than the worker.
#[tokio::test(start_paused = true)]
async fn a_database_that_cannot_be_asked_is_worked_with_all_the_same() -> Outcome {
    for mood in [Mood::Refusing, Mood::Down] {
        let (flaky, db, worker, seen) = start().await?;
        flaky.set("release_unknown", mood, u32::MAX);
        flaky.set("claim", Mood::Down, 1);
        let run = db.start(fragile::Flow, &1).await?;
        assert_eq!(run.output().await?.two, 2);
        assert_eq!((seen.runs(), seen.attempt()), (1, 1));
        worker.stop().await?;
    }
    Ok(())
}
