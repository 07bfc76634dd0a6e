//! Few connections, and bad ones.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pgflow_machine::{Beat, RunId, Settled};
use pgflow_postgres_backend_tests::{Bench, Gate, Wire, done, room};
use pgflow_runtime::backend::{BackendError, NewRun, Runs, Work};
use pgflow_runtime::postgres::{Pooling, Postgres, PostgresOptions};
use serde_json::json;
use sqlx::postgres::PgPoolOptions;

fn new_run() -> NewRun {
    NewRun::new("two", json!(1), RunId::new())
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
    let leases: Vec<_> = tasks.iter().map(|task| task.lease.clone().into()).collect();
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
                let tx =
                    postgres.begin(&task.lease.clone().into()).await.unwrap().expect("it is ours");
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
    let gate = Gate::close(&bench.db).await;
    let storm: Vec<_> = (0..300)
        .map(|_| {
            let postgres = Arc::clone(&postgres);
            tokio::spawn(async move { postgres.start(new_run()).await.unwrap() })
        })
        .collect();
    gate.wait_for("%start_run(%").await;
    assert_eq!(postgres.heartbeat(&[lease.into()]).await.unwrap(), [Beat::Extended]);
    assert!(!storm.iter().any(tokio::task::JoinHandle::is_finished), "it waited for a start");
    gate.open().await;
    for start in storm {
        start.await.unwrap();
    }
    let used: i64 = sqlx::query_scalar(
        // Not the server's own, such as autovacuum.
        "select count(*) from pg_stat_activity
          where datname = current_database() and backend_type = 'client backend'",
    )
    .fetch_one(&bench.db.pool)
    .await
    .unwrap();
    // Of two backends: two for each engine, one for its hints.
    let most = 6 + i64::from(bench.db.pool.size());
    assert!(used <= most, "{used} connections, those of the test included");
}

#[tokio::test]
async fn a_dead_connection_is_noticed_and_replaced() {
    let bench = Bench::new().await;
    let wire = Wire::to(&bench.db).await;
    let options = PostgresOptions {
        answer_within: Duration::from_millis(500),
        pooling: Pooling::None,
        ..PostgresOptions::new(wire.url())
    };
    let postgres = Postgres::open(options).await.unwrap();
    postgres.start(new_run()).await.unwrap();
    wire.fall_silent();
    let start = tokio::time::timeout(Duration::from_mins(1), postgres.start(new_run()));
    let error = start.await.expect("it is noticed").unwrap_err();
    assert!(matches!(error, BackendError::Unreachable(_)), "{error:?}");
    wire.heal();
    postgres.start(new_run()).await.unwrap();
}

/// As long as a busy machine takes for a start, several times over.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3);

#[tokio::test]
async fn what_the_client_gives_up_the_server_ends() {
    let bench = Bench::new().await;
    let options = PostgresOptions { answer_within: PATIENCE, ..bench.options() };
    gives_up(&bench, &Postgres::open(options).await.unwrap()).await;
}

/// What is not answered in time goes on nowhere. Otherwise a worker that asks again would have the server do the
/// same work any number of times.
pub(crate) async fn gives_up(bench: &Bench, postgres: &Postgres) {
    postgres.start(new_run()).await.unwrap();
    let mut holder = bench.db.connect().await;
    sqlx::raw_sql("begin; lock table pgflow.runs").execute(&mut holder).await.unwrap();
    let error = postgres.start(new_run()).await.unwrap_err();
    assert!(
        matches!(error, BackendError::Unreachable(_) | BackendError::Unavailable(_)),
        "{error:?}"
    );
    let deadline = Instant::now() + Duration::from_mins(1);
    let busy = "select count(*) from pg_stat_activity
        where datname = current_database() and state = 'active' and pid <> pg_backend_pid()";
    while sqlx::query_scalar::<_, i64>(busy).fetch_one(&bench.db.pool).await.unwrap() > 0 {
        assert!(Instant::now() < deadline, "a statement goes on that nobody waits for");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    sqlx::raw_sql("rollback").execute(&mut holder).await.unwrap();
    postgres.start(new_run()).await.unwrap();
}
