//! Starts that nobody waits for any more.

use std::time::Duration;

use pgflow::prelude::*;
use pgflow::{Db, RunId};
use pgflow_test_support::TestDb;
use pgflow_worker_tests::{Flaky, Fresh, Mood, Outcome};
use sqlx::Connection as _;
use tokio::time::{sleep, timeout};

#[flow(slug = "echo_dropped_starts", input = u32)]
mod echo {
    use super::*;

    #[step]
    pub(crate) async fn again(run: u32) -> Result<u32> {
        Ok(run)
    }
}

const SHORT: Duration = Duration::from_millis(250);

#[tokio::test]
async fn a_start_that_was_given_up_is_not_tried_again() -> Outcome {
    let flaky = Flaky::shared();
    let db = Db::new(flaky.clone());
    db.register(echo::Flow).await?;
    flaky.set("start", Mood::Down, 3);
    let id = RunId::new();
    let dropped = timeout(SHORT, db.start(echo::Flow, &1).id(id)).await;
    assert!(dropped.is_err(), "nobody answered in time: {dropped:?}");
    let before = flaky.calls("start");
    // Longer than all delays between tries that could still come.
    sleep(Duration::from_secs(2)).await;
    assert_eq!(flaky.calls("start"), before);
    assert!(db.get::<echo::Flow>(id).await?.is_none());
    Ok(())
}

/// The start waits for its turn, since another call of the program is stuck behind this lock.
async fn is_withdrawn(fresh: &Fresh, lock: &str, unlock: &str) -> Outcome {
    let db = &fresh.db;
    db.register(echo::Flow).await?;
    let id = RunId::new();
    with_connection!(fresh, other => {
        for statement in lock.split(';') {
            sqlx::query(sqlx::AssertSqlSafe(statement)).execute(&mut other).await?;
        }
        let client = db.clone();
        let stuck = tokio::spawn(async move { client.start(echo::Flow, &1).await });
        sleep(SHORT).await;
        let dropped = timeout(SHORT, db.start(echo::Flow, &2).id(id)).await;
        assert!(dropped.is_err(), "its turn did not come: {dropped:?}");
        sqlx::query(sqlx::AssertSqlSafe(unlock)).execute(&mut other).await?;
        stuck.await??;
    });
    // What was sent before is through: nothing is left that could still start the other one.
    sleep(Duration::from_secs(1)).await;
    assert!(db.get::<echo::Flow>(id).await?.is_none());
    let same = db.start(echo::Flow, &3).id(id).await?;
    assert!(same.is_new(), "the id is free");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_was_not_sent_is_withdrawn() -> Outcome {
    is_withdrawn(&Fresh::postgres().await?, "begin;lock table pgflow.runs", "rollback").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_was_not_sent_is_withdrawn_on_sqlite() -> Outcome {
    is_withdrawn(&Fresh::sqlite().await?, "begin immediate", "rollback").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_was_not_sent_is_withdrawn_on_mysql() -> Outcome {
    is_withdrawn(&Fresh::mysql().await?, "lock tables pgflow_runs write", "unlock tables").await
}

/// It goes with another one that has to wait for a lock: the batch fails, and each is tried alone.
#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_was_sent_with_others_in_vain_is_withdrawn() -> Outcome {
    let database = TestDb::new().await;
    let db = Db::connect(&database.url()).await?;
    db.migrate().await?;
    db.register(echo::Flow).await?;
    let (locked, id) = (RunId::new(), RunId::new());
    let mut lock = database.pool.begin().await?;
    db.start(echo::Flow, &1).id(locked).within(&mut *lock).await?;
    for statement in ["savepoint before", "lock table pgflow.runs"] {
        pgflow::sqlx::query(statement).execute(&mut *lock).await?;
    }
    let start = |id| {
        let db = db.clone();
        tokio::spawn(async move { db.start(echo::Flow, &2).id(id).await.map(drop) })
    };
    // While the first is stuck, the others gather.
    let first = start(RunId::new());
    sleep(SHORT).await;
    let (waiting, dropped) = (start(locked), start(id));
    sleep(SHORT).await;
    pgflow::sqlx::query("rollback to before").execute(&mut *lock).await?;
    first.await??;
    // By now it is under way, for a second.
    sleep(SHORT).await;
    dropped.abort();
    sleep(Duration::from_secs(4)).await;
    assert!(db.get::<echo::Flow>(id).await?.is_none(), "it started later");
    lock.rollback().await?;
    waiting.await??;
    assert!(db.get::<echo::Flow>(id).await?.is_none());
    Ok(())
}
