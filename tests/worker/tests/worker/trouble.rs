//! A database that does not answer, loses answers, or refuses.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use pgflow::prelude::*;
use pgflow_worker_tests::{Flaky, Mood, Outcome, Working};

/// How often the handler ran.
#[derive(Clone, Default)]
struct Count(Arc<AtomicU32>);

#[flow(slug = "count_trouble", input = u32, max_attempts = 1, timeout = 2)]
mod count {
    use super::*;

    #[step]
    pub(crate) async fn one(run: u32, State(count): State<Count>) -> Result<u32> {
        count.0.fetch_add(1, Ordering::SeqCst);
        Ok(run)
    }

    #[step(depends_on = [one])]
    pub(crate) async fn two(one: u32) -> Result<u32> {
        Ok(one + 1)
    }
}

async fn start() -> Outcome<(Flaky, Db, Working, Count)> {
    let (flaky, count) = (Flaky::default(), Count::default());
    let db = Db::new(flaky.clone());
    db.register(count::Flow).await?;
    let worker = Working::start(Worker::new(&db).flow(count::Flow).state(count.clone()));
    Ok((flaky, db, worker, count))
}

#[tokio::test]
async fn a_lost_answer_is_asked_for_again_and_nothing_happens_twice() -> Outcome {
    let (flaky, db, worker, count) = start().await?;
    flaky.set("settle", Mood::AnswerLost, 2);
    flaky.set("start", Mood::AnswerLost, 1);
    let run = db.start(count::Flow, &1).await?;
    assert!(run.is_new(), "it was us who started it");
    assert_eq!(run.output().await?.two, 2);
    assert_eq!(count.0.load(Ordering::SeqCst), 1);
    let report = worker.stop().await?;
    assert_eq!((report.settled, report.lost), (2, 0), "{report}");
    Ok(())
}

#[tokio::test]
async fn a_database_that_is_down_is_waited_for() -> Outcome {
    let (flaky, db, worker, count) = start().await?;
    for method in ["claim", "settle", "sweep"] {
        flaky.set(method, Mood::Down, 4);
    }
    let run = db.start(count::Flow, &1).await?;
    assert_eq!(run.output().await?.two, 2, "the only attempt was not used up");
    assert_eq!(count.0.load(Ordering::SeqCst), 1);
    assert_eq!(worker.stop().await?.lost, 0);
    Ok(())
}

#[tokio::test]
async fn a_worker_waits_for_its_database_at_the_start() -> Outcome {
    let flaky = Flaky::default();
    let db = Db::new(flaky.clone());
    db.register(count::Flow).await?;
    flaky.set("versions", Mood::Down, 3);
    let worker = Working::start(Worker::new(&db).flow(count::Flow).state(Count::default()));
    assert_eq!(db.start(count::Flow, &1).await?.output().await?.two, 2);
    worker.stop().await?;
    Ok(())
}

#[tokio::test]
async fn a_refusal_that_passes_costs_no_result() -> Outcome {
    let (flaky, db, worker, count) = start().await?;
    // Enough for batches to be cut, and for single ones to be refused as well.
    flaky.set("settle", Mood::Refusing, 12);
    let mut runs = Vec::new();
    for _ in 0..8 {
        runs.push(db.start(count::Flow, &1).await?);
    }
    for run in runs {
        assert_eq!(run.output().await?.two, 2, "the only attempt was not used up");
    }
    assert_eq!(count.0.load(Ordering::SeqCst), 8, "no handler ran twice");
    let report = worker.stop().await?;
    assert_eq!((report.settled, report.lost), (16, 0), "{report}");
    Ok(())
}

/// The lease is four seconds: nobody may take a task whose result waits, since its handler would run twice.
#[tokio::test]
async fn a_result_that_is_refused_for_longer_than_its_lease_is_still_kept() -> Outcome {
    let (flaky, db, worker, count) = start().await?;
    flaky.set("settle", Mood::Refusing, u32::MAX);
    let run = db.start(count::Flow, &1).await?;
    assert_eq!(run.wait_for(Duration::from_secs(12)).await?, None);
    flaky.set("settle", Mood::Refusing, 0);
    assert_eq!(run.output().await?.two, 2);
    assert_eq!(count.0.load(Ordering::SeqCst), 1, "the handler ran once");
    assert_eq!(worker.stop().await?.lost, 0);
    Ok(())
}

/// What handlers do cannot be undone: as long as their results are refused, no more of them may run.
#[tokio::test]
async fn while_results_are_refused_no_more_tasks_are_taken() -> Outcome {
    const RUNS: u32 = 100;
    let (flaky, count) = (Flaky::default(), Count::default());
    let db = Db::new(flaky.clone());
    db.register(count::Flow).await?;
    flaky.set("settle", Mood::Refusing, u32::MAX);
    let mut runs = Vec::new();
    for _ in 0..RUNS {
        runs.push(db.start(count::Flow, &1).await?);
    }
    let worker = Worker::new(&db).flow(count::Flow).concurrency(4).state(count.clone());
    let worker = Working::start(worker);
    while count.0.load(Ordering::SeqCst) < 8 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // Long enough for all of them to run.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let began = count.0.load(Ordering::SeqCst);
    assert!(began <= 8 + 4, "{began} handlers ran, and nothing was recorded");
    flaky.set("settle", Mood::Refusing, 0);
    for run in runs {
        assert_eq!(run.output().await?.two, 2);
    }
    assert_eq!(count.0.load(Ordering::SeqCst), RUNS, "no handler ran twice");
    assert_eq!(worker.stop().await?.lost, 0);
    Ok(())
}

#[tokio::test]
async fn only_an_output_that_cannot_be_stored_fails() -> Outcome {
    let (flaky, db, worker, _) = start().await?;
    flaky.set("settle", Mood::Unstorable, 2); // With a claim, and then alone.
    let run = db.start(count::Flow, &1).await?;
    let error = run.output().await.expect_err("the output was refused").to_string();
    assert!(error.contains("the database refused the output"), "{error}");
    assert_eq!(db.start(count::Flow, &1).await?.output().await?.two, 2);
    assert_eq!(worker.stop().await?.lost, 0);
    Ok(())
}

#[tokio::test]
async fn a_panic_in_the_backend_does_not_stop_the_worker() -> Outcome {
    let (flaky, db, worker, count) = start().await?;
    for method in ["claim", "sweep", "settle"] {
        flaky.set(method, Mood::Panicking, 2);
    }
    assert_eq!(db.start(count::Flow, &1).await?.output().await?.two, 2);
    assert_eq!(count.0.load(Ordering::SeqCst), 1);
    assert_eq!(worker.stop().await?.lost, 0);
    Ok(())
}

/// A claim that fails may not keep the results that went with it.
#[tokio::test]
async fn results_go_without_a_claim_that_fails() -> Outcome {
    let (flaky, db, worker, _) = start().await?;
    flaky.set("next", Mood::Unstorable, u32::MAX);
    let run = db.start(count::Flow, &1).await?;
    assert_eq!(run.output().await?.two, 2);
    assert_eq!(worker.stop().await?.lost, 0);
    Ok(())
}

#[tokio::test]
async fn what_cannot_be_handed_back_is_said_to_be_lost() -> Outcome {
    let (flaky, db, worker, count) = start().await?;
    flaky.set("settle", Mood::Down, u32::MAX);
    db.start(count::Flow, &1).await?;
    while count.0.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let stopped = tokio::time::timeout(Duration::from_mins(1), worker.stop()).await??;
    assert_eq!(stopped.lost, 1, "{stopped}");
    assert!(!stopped.is_clean());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_storm_of_hints_leads_to_few_claims() -> Outcome {
    let (flaky, db, worker, _) = start().await?;
    db.register(noise::Flow).await?;
    let claims = || flaky.calls("claim") + flaky.calls("sweep_and_claim");
    let before = claims();
    let storm = async {
        loop {
            db.start(count::Flow, &1).key("same").await?;
            db.start(noise::Flow, &()).await?;
            tokio::task::yield_now().await;
        }
        #[allow(unreachable_code)]
        Outcome::Ok(())
    };
    let since = Instant::now();
    _ = tokio::time::timeout(Duration::from_secs(1), storm).await;
    let (claims, took) = (claims() - before, since.elapsed());
    assert!(u128::from(claims) <= 10 + took.as_millis() / 10, "{claims} claims in {took:?}");
    worker.stop().await?;
    Ok(())
}

#[flow]
mod noise {
    #[step]
    pub(crate) async fn nothing() -> pgflow::Result<u8> {
        Ok(1)
    }
}
