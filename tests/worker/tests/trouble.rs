//! A database that does not answer, loses answers, or refuses.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use pgflow::prelude::*;
use pgflow_worker_tests::{Flaky, Mood, Outcome, Working};

/// How often the handler ran.
#[derive(Clone, Default)]
struct Count(Arc<AtomicU32>);

#[flow(input = u32, max_attempts = 1, timeout = 2)]
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
async fn a_result_that_is_refused_does_not_stop_the_worker() -> Outcome {
    let (flaky, db, worker, _) = start().await?;
    flaky.set("settle", Mood::Refusing, 1);
    let run = db.start(count::Flow, &1).await?;
    let error = run.output().await.expect_err("the output was refused").to_string();
    assert!(error.contains("the database refused the output"), "{error}");
    assert_eq!(db.start(count::Flow, &1).await?.output().await?.two, 2);
    assert_eq!(worker.stop().await?.lost, 0);
    Ok(())
}

#[tokio::test]
async fn a_panic_in_the_backend_does_not_stop_the_worker() -> Outcome {
    let (flaky, db, worker, _) = start().await?;
    for method in ["claim", "sweep", "settle"] {
        flaky.set(method, Mood::Panicking, 1);
    }
    let error = db.start(count::Flow, &1).await?.output().await.expect_err("it is not recorded");
    assert!(error.to_string().contains("panicked: a bug in the backend"), "{error}");
    assert_eq!(db.start(count::Flow, &1).await?.output().await?.two, 2);
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
    _ = tokio::time::timeout(Duration::from_secs(1), storm).await;
    let claims = claims() - before;
    assert!(claims <= 110, "{claims} claims in a second");
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
