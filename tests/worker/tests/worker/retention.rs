//! Runs that ended long ago.

use std::time::Duration;

use pgflow::prelude::*;
use pgflow::{RunId, WorkerError};
use pgflow_runtime::memory::Memory;
use pgflow_worker_tests::{Fresh, Outcome, Working, on};
use sqlx::{AssertSqlSafe, Connection as _};
use tokio::time::{sleep, timeout};

#[flow(slug = "echo_retention", input = u32)]
mod echo {
    use super::*;

    #[step]
    pub(crate) async fn again(run: u32) -> Result<u32> {
        Ok(run)
    }
}

on!(memory: what_has_ended_is_pruned_in_batches);
on!(sqlite: what_has_ended_is_pruned_in_batches, a_worker_prunes_in_a_database);
on!(mysql: what_has_ended_is_pruned_in_batches, a_worker_prunes_in_a_database);
on!(postgres: what_has_ended_is_pruned_in_batches, a_worker_prunes_in_a_database);

async fn what_has_ended_is_pruned_in_batches(fresh: Fresh) -> Outcome {
    let worker = fresh.work(echo::Flow).await?;
    let mut runs = Vec::new();
    for number in 0..150 {
        runs.push(fresh.db.start(echo::Flow, &number).await?);
    }
    for run in &runs {
        run.wait().await?;
    }
    worker.stop().await?;
    let open = fresh.db.start(echo::Flow, &0).await?;
    assert_eq!(fresh.db.prune(Duration::from_hours(24)).await?, 0);
    // A clock may be as coarse as a millisecond.
    sleep(Duration::from_millis(20)).await;
    assert_eq!(fresh.db.prune(Duration::ZERO).await?, 150, "more than a batch");
    assert!(fresh.db.get::<echo::Flow>(runs[0].id()).await?.is_none());
    let worker = fresh.work(echo::Flow).await?;
    assert_eq!(open.output().await?.again, 0);
    worker.stop().await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_worker_prunes_what_ended_so_many_days_ago() -> Outcome {
    let memory = Memory::in_real_time();
    let db = Db::new(memory.clone());
    db.register(echo::Flow).await?;
    let start = async |number: u32| -> Outcome<RunId> {
        let run = db.start(echo::Flow, &number).await?;
        run.cancel(None).await?;
        Ok(run.id())
    };
    let old = start(1).await?;
    memory.advance(Duration::from_hours(30));
    let young = start(2).await?;
    memory.advance(Duration::from_hours(20));
    let worker = Working::start(Worker::new(&db).flow(echo::Flow).retain(2));
    sleep(Duration::from_mins(2)).await;
    let is_there = async |id| -> Outcome<bool> { Ok(db.get::<echo::Flow>(id).await?.is_some()) };
    assert_eq!((is_there(old).await?, is_there(young).await?), (false, true));
    memory.advance(Duration::from_hours(30));
    sleep(Duration::from_hours(2)).await;
    assert!(!is_there(young).await?, "it looks again every hour");
    worker.stop().await?;
    Ok(())
}

/// Sets the one run that there is back by three days.
async fn age(fresh: &Fresh) -> Outcome {
    const MICROS: u64 = 3 * 24 * 3600 * 1_000_000;
    let sql = if fresh.url.starts_with("postgres") {
        "update pgflow.runs set started_at = started_at - interval '3 days', cancelled_at = cancelled_at - interval '3 days'".to_owned()
    } else {
        format!(
            "update pgflow_runs set started_at = started_at - {MICROS}, ended_at = ended_at - {MICROS}"
        )
    };
    with_connection!(fresh, connection => {
        let aged = sqlx::query(AssertSqlSafe(sql)).execute(&mut connection).await?.rows_affected();
        assert_eq!(aged, 1);
    });
    Ok(())
}

/// A worker looks for the first time when it is a minute old, by a clock that databases have no say in.
async fn a_worker_prunes_in_a_database(fresh: Fresh) -> Outcome {
    fresh.db.register(echo::Flow).await?;
    let start = async |number: u32| -> Outcome<RunId> {
        let run = fresh.db.start(echo::Flow, &number).await?;
        run.cancel(None).await?;
        Ok(run.id())
    };
    let old = start(1).await?;
    age(&fresh).await?;
    let young = start(2).await?;
    let worker = Working::start(Worker::new(&fresh.db).flow(echo::Flow).retain(2));
    let is_there =
        async |id| -> Outcome<bool> { Ok(fresh.db.get::<echo::Flow>(id).await?.is_some()) };
    let gone = async {
        while is_there(old).await? {
            sleep(Duration::from_millis(500)).await;
        }
        Outcome::Ok(())
    };
    timeout(Duration::from_mins(10), gone).await??;
    assert!(is_there(young).await?, "it ended just now");
    worker.stop().await?;
    Ok(())
}

#[tokio::test]
async fn to_retain_nothing_is_a_mistake() -> Outcome {
    let fresh = Fresh::memory().await?;
    fresh.db.register(echo::Flow).await?;
    let worker = Worker::new(&fresh.db).flow(echo::Flow).retain(0);
    let refused = worker.run(std::future::pending()).await;
    assert!(matches!(refused, Err(WorkerError::Zero { .. })), "{refused:?}");
    Ok(())
}
