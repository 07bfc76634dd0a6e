//! Runs from the outside.

use std::time::Duration;

use pgflow::prelude::*;
use pgflow::{
    ClientError, RunId, RunStatus,
    client::{CancelOutcome, Retried, RunQuery},
};
use pgflow_runtime::PayloadError;
use pgflow_worker_tests::{Fresh, Outcome, everywhere};

#[flow(input = u64, max_attempts = 1)]
mod echo {
    use super::*;

    #[step]
    pub(crate) async fn again(run: u64) -> Result<u64> {
        Ok(run)
    }
}

#[flow(input = Vec<f64>, max_attempts = 1)]
mod sums {
    use super::*;

    #[step(map)]
    pub(crate) async fn double(item: f64) -> Result<f64> {
        Ok(item * 2.0)
    }
}

#[flow(input = u64, max_attempts = 1, timeout = 6)]
mod waits {
    use super::*;

    #[step]
    pub(crate) async fn first(run: u64) -> Result<u64> {
        Ok(run)
    }

    #[step(depends_on = [first])]
    pub(crate) async fn sleep(first: u64, ctx: Context, State(heard): State<Heard>) -> Result<u64> {
        heard.0.notify_one();
        ctx.cancelled().await;
        heard.0.notify_one();
        Ok(first)
    }
}

/// Told when a handler begins, and when it heard that it should stop.
#[derive(Clone, Default)]
struct Heard(std::sync::Arc<tokio::sync::Notify>);

#[flow(input = u64, max_attempts = 1)]
mod fragile {
    use super::*;

    #[step]
    pub(crate) async fn solid(run: u64) -> Result<u64> {
        Ok(run + 1)
    }

    #[step(depends_on = [solid])]
    pub(crate) async fn brittle(solid: u64, ctx: Context) -> Result<u64> {
        if ctx.attempt() == 1 { Err("broken".into()) } else { Ok(solid) }
    }
}

everywhere!(
    integers_survive_exactly,
    a_key_is_one_run,
    a_timeout_does_not_lose_the_run,
    inputs_are_looked_at_before_anything_is_written,
    a_cancelled_run_stops_its_handler,
    a_failed_run_goes_on_after_a_retry,
    runs_are_listed_page_by_page,
    a_reader_that_nobody_polls_keeps_nobody_waiting,
);

async fn integers_survive_exactly(fresh: Fresh) -> Outcome {
    let worker = fresh.work(echo::Flow).await?;
    for number in [u64::MAX, (1 << 53) + 1, 0] {
        let run = fresh.db.start(echo::Flow, &number).await?;
        assert_eq!(run.output().await?.again, number);
    }
    worker.stop().await?;
    Ok(())
}

async fn a_key_is_one_run(fresh: Fresh) -> Outcome {
    let db = &fresh.db;
    db.register(echo::Flow).await?;
    let starts = (0..20).map(|number| {
        let db = db.clone();
        tokio::spawn(async move { db.start(echo::Flow, &number).key("order 7").await })
    });
    let mut runs = Vec::new();
    for start in starts.collect::<Vec<_>>() {
        runs.push(start.await??);
    }
    assert_eq!(runs.iter().filter(|run| run.is_new()).count(), 1);
    assert!(runs.iter().all(|run| run.id() == runs[0].id()));
    assert!(db.get::<echo::Flow>(runs[0].id()).await?.is_some());
    assert!(db.get::<echo::Flow>(RunId::new()).await?.is_none());
    let other = db.get::<sums::Flow>(runs[0].id()).await;
    assert!(matches!(other, Err(ClientError::OtherFlow { .. })), "{other:?}");
    Ok(())
}

async fn a_timeout_does_not_lose_the_run(fresh: Fresh) -> Outcome {
    fresh.db.register(echo::Flow).await?;
    let run = fresh.db.start(echo::Flow, &1).await?;
    assert_eq!(run.wait_for(Duration::from_millis(50)).await?, None);
    let worker = fresh.work(echo::Flow).await?;
    assert_eq!(run.wait_for(Duration::from_secs(30)).await?, Some(RunStatus::Completed));
    worker.stop().await?;
    Ok(())
}

async fn inputs_are_looked_at_before_anything_is_written(fresh: Fresh) -> Outcome {
    let db = &fresh.db;
    db.register(sums::Flow).await?;
    let error = db.start(sums::Flow, &vec![1.0, f64::INFINITY]).await.expect_err("not JSON");
    let ClientError::Payload { source: PayloadError::NotFinite { path, .. }, .. } = &error else {
        panic!("{error:?}")
    };
    assert_eq!(path, "$[1]");
    let many = vec![0.5; db.limits().await?.max_fanout + 1];
    let error = db.start(sums::Flow, &many).await.expect_err("too many");
    let expected =
        matches!(error, ClientError::Payload { source: PayloadError::TooWide { .. }, .. });
    assert!(expected, "{error}");
    let error = db.start_json(sums::Flow, serde_json::json!({})).await.expect_err("no array");
    assert!(matches!(error, ClientError::Data(_)), "{error:?}");
    assert!(db.list(&RunQuery::default()).await?.runs.is_empty());
    Ok(())
}

async fn a_cancelled_run_stops_its_handler(fresh: Fresh) -> Outcome {
    let (db, heard) = (&fresh.db, Heard::default());
    db.register(waits::Flow).await?;
    let worker = Worker::new(db).flow(waits::Flow).state(heard.clone());
    let worker = pgflow_worker_tests::Working::start(worker);
    let run = db.start(waits::Flow, &1).await?;
    let heard = async || tokio::time::timeout(Duration::from_mins(1), heard.0.notified()).await;
    heard().await?;
    assert_eq!(run.cancel(Some("changed my mind")).await?, CancelOutcome::Cancelled);
    heard().await?;
    let error = run.output().await.expect_err("it was cancelled").to_string();
    assert!(error.ends_with("was cancelled: changed my mind"), "{error}");
    let report = worker.stop().await?;
    assert_eq!((report.settled, report.superseded), (1, 1), "{report}");
    Ok(())
}

async fn a_failed_run_goes_on_after_a_retry(fresh: Fresh) -> Outcome {
    let worker = fresh.work(fragile::Flow).await?;
    let run = fresh.db.start(fragile::Flow, &1).await?;
    let error = run.output().await.expect_err("it broke").to_string();
    assert!(error.contains("step `brittle`: broken"), "{error}");
    assert_eq!(run.retry().await?, Retried::Retried);
    assert_eq!(run.output().await?.brittle, 2);
    assert_eq!(run.retry().await?, Retried::NotFailed(RunStatus::Completed));
    assert_eq!(worker.stop().await?.settled, 3, "what was done is not done again");
    Ok(())
}

async fn runs_are_listed_page_by_page(fresh: Fresh) -> Outcome {
    let db = &fresh.db;
    db.register(echo::Flow).await?;
    let mut started = Vec::new();
    for number in 0..7 {
        started.push(db.start(echo::Flow, &number).await?.id());
    }
    let mut query = Some(RunQuery { max: 3, flows: vec!["echo".into()], ..RunQuery::default() });
    let mut listed = Vec::new();
    while let Some(asked) = query {
        let page = db.list(&asked).await?;
        listed.extend(page.runs.iter().map(|run| run.id));
        query = page.next;
    }
    started.reverse();
    assert_eq!(listed, started);
    Ok(())
}

async fn a_reader_that_nobody_polls_keeps_nobody_waiting(fresh: Fresh) -> Outcome {
    fresh.db.register(echo::Flow).await?;
    let run = fresh.db.start(echo::Flow, &1).await?;
    let mut readers: Vec<_> = (0..8).map(|_| run.events()).collect();
    for reader in &mut readers {
        // Polled once, and then left in the middle of whatever it does.
        tokio::select! {
            biased;
            _ = reader.next() => {}
            () = std::future::ready(()) => {}
        }
    }
    tokio::time::timeout(Duration::from_mins(1), run.progress()).await??;
    Ok(())
}
