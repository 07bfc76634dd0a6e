//! Few connections, and bad ones.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pgflow_machine::{Beat, RunId, Settled};
use pgflow_postgres_backend_tests::{Bench, Wire, done, room};
use pgflow_runtime::backend::{Backend, BackendError, NewRun};
use pgflow_runtime::postgres::{Pooling, Postgres, PostgresOptions};
use serde_json::json;
use sqlx::postgres::PgPoolOptions;

fn new_run() -> NewRun {
    NewRun { flow: "two".into(), input: json!(1), id: RunId::new() }
}

#[tokio::test]
async fn handlers_that_hold_the_whole_pool_do_not_stop_the_engine() {
    let bench = Bench::new().await;
    let pool = PgPoolOptions::new().max_connections(2).connect(&bench.db.url()).await.unwrap();
    let postgres = Postgres::with_pool(pool.clone()).await.unwrap();
    for _ in 0..50 {
        postgres.start(new_run()).await.unwrap();
    }
    let _held = (pool.acquire().await.unwrap(), pool.acquire().await.unwrap());
    let tasks = postgres.claim(&room(50)).await.unwrap().tasks;
    assert_eq!(tasks.len(), 50);
    let leases: Vec<_> = tasks.iter().map(|task| task.lease.clone()).collect();
    assert_eq!(postgres.heartbeat(&leases).await.unwrap(), [Beat::Extended; 50]);
    let settles: Vec<_> = tasks.iter().map(|task| done(task, json!(1))).collect();
    let work = postgres.settle(&settles, None).await.unwrap();
    assert_eq!(work.settled, [Settled::Applied; 50]);
}

#[tokio::test]
async fn fifty_steps_share_two_transactions() {
    let bench = Bench::new().await;
    let options = PostgresOptions { tx_connections: 2, engine_connections: 1, ..bench.options() };
    let postgres = Arc::new(Postgres::open(options).await.unwrap());
    for _ in 0..50 {
        postgres.start(new_run()).await.unwrap();
    }
    let tasks = postgres.claim(&room(50)).await.unwrap().tasks;
    let steps: Vec<_> = tasks
        .into_iter()
        .map(|task| {
            let postgres = Arc::clone(&postgres);
            tokio::spawn(async move {
                let tx = postgres.begin(&task.lease).await.unwrap().expect("it is ours");
                tokio::time::sleep(Duration::from_millis(5)).await;
                postgres.commit(tx, &done(&task, json!(1))).await.unwrap()
            })
        })
        .collect();
    for step in steps {
        assert_eq!(step.await.unwrap(), Settled::Applied);
    }
    bench.db.check().await;
}

#[tokio::test]
async fn a_storm_of_starts_does_not_hold_up_heartbeats() {
    let bench = Bench::new().await;
    bench.start().await;
    let lease = bench.claim().await.remove(0).lease;
    let postgres = Arc::new(bench.other().await);
    let storm: Vec<_> = (0..300)
        .map(|_| {
            let postgres = Arc::clone(&postgres);
            tokio::spawn(async move { postgres.start(new_run()).await.unwrap() })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(20)).await;
    let waiting = storm.iter().filter(|start| !start.is_finished()).count();
    assert_eq!(postgres.heartbeat(&[lease]).await.unwrap(), [Beat::Extended]);
    let still = storm.iter().filter(|start| !start.is_finished()).count();
    assert!(waiting > 0 && still > waiting / 2, "it waited for {waiting} starts, {still} are left");
    for start in storm {
        start.await.unwrap();
    }
    let used: i64 = sqlx::query_scalar(
        "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
    )
    .fetch_one(&bench.db.pool)
    .await
    .unwrap();
    // Of two backends: two for each engine, one for its hints.
    assert!(used <= 6, "{used} connections");
}

#[tokio::test]
async fn a_dead_connection_is_noticed_and_replaced() {
    let bench = Bench::new().await;
    let wire = Wire::to(&bench.db).await;
    let answer_within = Duration::from_millis(500);
    let options = PostgresOptions {
        answer_within,
        pooling: Pooling::None,
        ..PostgresOptions::new(wire.url())
    };
    let postgres = Postgres::open(options).await.unwrap();
    postgres.start(new_run()).await.unwrap();
    wire.fall_silent();
    let began = Instant::now();
    let error = postgres.start(new_run()).await.unwrap_err();
    assert!(matches!(error, BackendError::Unreachable(_)), "{error:?}");
    assert!(began.elapsed() < answer_within * 4, "{:?}", began.elapsed());
    wire.heal();
    postgres.start(new_run()).await.unwrap();
}
