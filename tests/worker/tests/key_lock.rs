//! A start that has to wait for a transaction of somebody else's, on Postgres.

use std::time::{Duration, Instant};

use pgflow::prelude::*;
use pgflow_worker_tests::{Fresh, Outcome};
use sqlx::{Connection, PgConnection};

#[flow(input = u32, max_attempts = 1)]
mod echo {
    use super::*;

    #[step]
    pub(crate) async fn again(run: u32) -> Result<u32> {
        Ok(run)
    }
}

/// A transaction has started a run of the same key, and is open: whether there is one is not known yet.
#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_waits_does_not_stop_other_calls() -> Outcome {
    let fresh = Fresh::postgres().await?;
    let db = &fresh.db;
    let worker = fresh.work(echo::Flow).await?;
    let other = db.start(echo::Flow, &1).await?;
    let mut connection = PgConnection::connect(&fresh.url).await?;
    let mut tx = connection.begin().await?;
    let first = db.start(echo::Flow, &2).key("order 7").within(&mut tx).await?;
    let second = tokio::spawn({
        let db = db.clone();
        async move { db.start(echo::Flow, &3).key("order 7").await }
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    // One call, and starts that go together with the one that waits.
    let since = Instant::now();
    other.output().await?;
    let starts = (0..8).map(|number| {
        let db = db.clone();
        tokio::spawn(async move { db.start(echo::Flow, &number).await?.output().await })
    });
    for start in starts.collect::<Vec<_>>() {
        start.await??;
    }
    assert!(since.elapsed() < Duration::from_secs(8), "{:?}", since.elapsed());
    assert!(!second.is_finished(), "it waits");
    tx.commit().await?;
    let second = second.await??;
    assert_eq!((second.id(), second.is_new()), (first.id(), false));
    worker.stop().await?;
    Ok(())
}
