//! A start that has to wait for a transaction of somebody else's, on Postgres.

use std::time::Duration;

use pgflow::prelude::*;
use pgflow_worker_tests::{Fresh, Outcome};
use sqlx::{Connection, PgConnection};

#[flow(slug = "echo_key_lock", input = u32, max_attempts = 1)]
mod echo {
    use super::*;

    #[step]
    pub(crate) async fn again(run: u32) -> Result<u32> {
        Ok(run)
    }
}

/// In the database, for a lock.
async fn until_somebody_waits(url: &str) -> Outcome {
    let waits = "select count(*) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'";
    let mut connection = PgConnection::connect(url).await?;
    let somebody_waits = async {
        while sqlx::query_scalar::<_, i64>(waits).fetch_one(&mut connection).await? == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Outcome::Ok(())
    };
    tokio::time::timeout(Duration::from_mins(1), somebody_waits).await?
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
    until_somebody_waits(&fresh.url).await?;
    // One call, and starts that go together with the one that waits.
    other.output().await?;
    let starts = (0..8).map(|number| {
        let db = db.clone();
        tokio::spawn(async move { db.start(echo::Flow, &number).await?.output().await })
    });
    for start in starts.collect::<Vec<_>>() {
        // Less than the twenty seconds after which the one that waits would be given up.
        tokio::time::timeout(Duration::from_secs(15), start).await???;
    }
    assert!(!second.is_finished(), "it waits");
    tx.commit().await?;
    let second = second.await??;
    assert_eq!((second.id(), second.is_new()), (first.id(), false));
    worker.stop().await?;
    Ok(())
}
