//! Workers in the list that people look at, on Postgres.

use std::time::Duration;

use pgflow::prelude::*;
use pgflow_worker_tests::{Fresh, Outcome, Working};
use sqlx::{Connection, PgConnection};

#[flow(max_attempts = 1)]
mod little {
    #[step]
    pub(crate) async fn one() -> pgflow::Result<u8> {
        Ok(1)
    }
}

/// How many workers are said to have stopped, and how many not.
async fn workers(connection: &mut PgConnection) -> Outcome<(i64, i64)> {
    let query = "select count(stopped_at), count(*) - count(stopped_at) from pgflow.workers";
    Ok(sqlx::query_as(query).fetch_one(connection).await?)
}

async fn work(fresh: &Fresh) -> Outcome<Working> {
    let worker = fresh.work(little::Flow).await?;
    fresh.db.start(little::Flow, &()).await?.output().await?;
    Ok(worker)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_ends_says_so() -> Outcome {
    let fresh = Fresh::postgres().await?;
    let mut connection = PgConnection::connect(&fresh.url).await?;
    for ended in 0..3 {
        let worker = work(&fresh).await?;
        assert_eq!(workers(&mut connection).await?, (ended, 1));
        worker.stop().await?;
        assert_eq!(workers(&mut connection).await?, (ended + 1, 0));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_says_that_a_worker_is_alive_which_was_dropped() -> Outcome {
    let fresh = Fresh::postgres().await?;
    let mut connection = PgConnection::connect(&fresh.url).await?;
    fresh.db.register(little::Flow).await?;
    let dropped =
        tokio::spawn(Worker::new(&fresh.db).flow(little::Flow).run(std::future::pending()));
    fresh.db.start(little::Flow, &()).await?.output().await?;
    dropped.abort();
    _ = dropped.await;
    let sweep = || fresh.db.backend().sweep();
    let heard = "select max(last_heartbeat_at)::text from pgflow.workers";
    let before: String = sqlx::query_scalar(heard).fetch_one(&mut connection).await?;
    tokio::time::sleep(Duration::from_millis(5)).await;
    sweep().await?;
    let after: String = sqlx::query_scalar(heard).fetch_one(&mut connection).await?;
    assert_eq!(before, after);
    Ok(())
}
