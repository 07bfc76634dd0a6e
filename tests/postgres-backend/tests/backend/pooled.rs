//! Behind a real PgBouncer.

use std::process::Command;
use std::sync::Arc;

use pgflow_machine::Settled;
use pgflow_postgres_backend_tests::{
    Bench, begun, comes, done, leave_statements, room, start, without_settings,
};
use pgflow_runtime::backend::{Backend, Wake, Work};
use pgflow_runtime::postgres::{Durability, Pooling, Postgres, PostgresOptions, PostgresTx};
use pgflow_test_support::PoolMode::{Session, Transaction};
use pgflow_test_support::{PgBouncer, PoolMode};
use serde_json::json;
use sqlx::{PgConnection, PgPool};

use crate::connections::{PATIENCE, gives_up};

fn two() -> Wake {
    Wake::queue("two")
}

async fn behind(mode: PoolMode) -> (Bench, PgBouncer, Postgres) {
    let bench = Bench::new().await;
    let bouncer = PgBouncer::start(&bench.db, mode);
    let postgres = Postgres::connect(&bouncer.url()).await.unwrap();
    (bench, bouncer, postgres)
}

/// Five runs, from their start to their end.
async fn work(postgres: &Postgres) {
    for _ in 0..5 {
        start(postgres, "two", json!(1)).await;
    }
    let mut tasks = postgres.claim(&room(10)).await.unwrap().tasks;
    assert_eq!(tasks.len(), 5);
    for _ in ["first", "second"] {
        let settles: Vec<_> = tasks.iter().map(|task| done(task, json!(1))).collect();
        let work = postgres.settle(&settles, Some(&room(10))).await.unwrap();
        assert_eq!(work.settled, [Settled::Applied; 5]);
        tasks = work.claimed.tasks;
    }
    assert!(tasks.is_empty());
}

/// Whether hints of other processes come.
async fn hears(bench: &Bench, postgres: &Postgres) -> bool {
    let mut wakes = postgres.wakes();
    if !comes(&mut wakes, &Wake::Gap).await {
        return false;
    }
    bench.start().await;
    comes(&mut wakes, &two()).await
}

#[tokio::test]
async fn everything_works_without_a_session() {
    let (bench, _bouncer, postgres) = behind(Transaction).await;
    work(&postgres).await;
    bench.db.check().await;
}

#[tokio::test]
async fn there_are_no_hints_from_others_but_ones_own_and_to_others() {
    let (bench, _bouncer, postgres) = behind(Transaction).await;
    let (mut here, mut there) = (postgres.wakes(), bench.postgres.wakes());
    assert!(comes(&mut there, &Wake::Gap).await);
    start(&postgres, "two", json!(1)).await;
    assert_eq!(here.next().await, two(), "no gap before it, since nobody listens");
    assert!(comes(&mut there, &two()).await, "others can listen");
}

#[tokio::test]
async fn a_direct_connection_brings_hints_back() {
    let bench = Bench::new().await;
    let bouncer = PgBouncer::start(&bench.db, Transaction);
    let listen_url = Some(bench.db.url());
    let options = PostgresOptions { listen_url, ..PostgresOptions::new(bouncer.url()) };
    let postgres = Postgres::open(options).await.unwrap();
    assert!(hears(&bench, &postgres).await);
}

/// In a process of its own, because variables are the whole process's.
#[tokio::test]
async fn the_direct_connection_can_be_a_variable() {
    const URL: &str = "PGFLOW_TEST_POOLED_URL";
    if let Ok(url) = std::env::var(URL) {
        let postgres = Postgres::connect(&url).await.unwrap();
        assert!(comes(&mut postgres.wakes(), &Wake::Gap).await, "nobody listens");
        return;
    }
    let bench = Bench::new().await;
    let bouncer = PgBouncer::start(&bench.db, Transaction);
    for (listen_url, is_heard) in [(bench.db.url(), true), (String::new(), false)] {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "pooled::the_direct_connection_can_be_a_variable"]);
        child.env(URL, bouncer.url()).env("PGFLOW_LISTEN_URL", listen_url);
        let output = tokio::task::spawn_blocking(move || child.output()).await.unwrap().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.success(), is_heard, "{said}");
    }
}

#[tokio::test]
async fn a_pooler_that_leaves_sessions_alone_is_none() {
    let (bench, bouncer, postgres) = behind(Session).await;
    assert!(hears(&bench, &postgres).await);
    for pooling in [Pooling::None, Pooling::Detect] {
        let options = PostgresOptions::new(bouncer.url());
        let options = PostgresOptions { pooling, durability: Durability::Relaxed, ..options };
        let postgres = Postgres::open(options).await.unwrap();
        assert!(hears(&bench, &postgres).await, "{pooling:?}");
        postgres.close().await.unwrap();
    }
}

#[tokio::test]
async fn whoever_is_told_of_the_pooler_does_not_look() {
    let bench = Bench::new().await;
    let bouncer = PgBouncer::start(&bench.db, Transaction);
    let options = PostgresOptions::new(bouncer.url());
    let options = PostgresOptions { pooling: Pooling::Transactions, ..options };
    work(&Postgres::open(options).await.unwrap()).await;
}

/// Whoever asks next may get the same session: what was given up must not go on there either.
#[tokio::test]
async fn what_the_client_gives_up_the_server_ends_behind_a_pooler_too() {
    let bench = Bench::new().await;
    let bouncer = PgBouncer::start(&bench.db, Transaction);
    let options = PostgresOptions {
        pooling: Pooling::Transactions,
        answer_within: PATIENCE,
        ..PostgresOptions::new(bouncer.url())
    };
    gives_up(&bench, &Postgres::open(options).await.unwrap()).await;
}

/// Such a pooler takes sessions in turn: with two of them, every other transaction has the same one.
#[tokio::test]
async fn a_pooler_that_takes_turns_is_noticed_too() {
    let bench = Bench::new().await;
    for sessions in 1..4 {
        let extra = [("server_round_robin", "1")];
        let bouncer = PgBouncer::start_with(&bench.db, Transaction, &extra).unwrap();
        let mut clients = Vec::new();
        for _ in 0..sessions {
            clients.push(begun(&bouncer).await);
        }
        for client in &mut clients {
            sqlx::raw_sql("rollback").execute(client).await.unwrap();
        }
        let postgres = Postgres::connect(&bouncer.url()).await.unwrap();
        let mut wakes = postgres.wakes();
        start(&postgres, "two", json!(1)).await;
        assert_eq!(wakes.next().await, two(), "it listens, with {sessions} sessions");
    }
}

#[tokio::test]
async fn looking_for_a_pooler_leaves_nothing_in_its_sessions() {
    let (_bench, bouncer, _postgres) = behind(Transaction).await;
    let mut clients = Vec::new();
    for _ in 0..10 {
        clients.push(begun(&bouncer).await);
        assert_eq!(left_behind(clients.last_mut().unwrap()).await, 0);
    }
}

/// What others would find in the session that this client has.
async fn left_behind(client: &mut PgConnection) -> i64 {
    let left = "select (select count(*) from pg_listening_channels())
                     + (select count(*) from pg_prepared_statements where not from_sql)";
    let row = sqlx::Executor::fetch_one(client, sqlx::raw_sql(left)).await.unwrap();
    sqlx::Row::get(&row, 0)
}

#[tokio::test]
async fn what_a_step_prepares_meets_nothing_and_leaves_nothing() {
    let (_bench, bouncer, postgres) = behind(Transaction).await;
    leave_statements(&bouncer).await;
    for _ in 0..20 {
        start(&postgres, "two", json!(1)).await;
    }
    for task in postgres.claim(&room(20)).await.unwrap().tasks {
        let mut tx = postgres.begin(&task.lease.clone().into()).await.unwrap().expect("it is ours");
        let connection =
            tx.downcast_mut().map(PostgresTx::connection).expect("a transaction of Postgres");
        let sum = sqlx::query_scalar::<_, i32>("select $1 + 1").bind(1);
        assert_eq!(sum.fetch_one(&mut *connection).await.unwrap(), 2);
        let settled = postgres.commit(tx, &done(&task, json!(1))).await.unwrap();
        assert_eq!(settled, Settled::Applied);
    }
    let mut clients = Vec::new();
    for _ in 0..10 {
        clients.push(begun(&bouncer).await);
        assert_eq!(left_behind(clients.last_mut().unwrap()).await, 0);
    }
}

/// A pool whose own statements have names works only until two clients meet in one session.
#[tokio::test]
async fn steps_on_a_pool_of_the_application_need_no_named_statements() {
    let bench = Bench::new().await;
    let extra = [("default_pool_size", "2")];
    let bouncer = PgBouncer::start_with(&bench.db, Transaction, &extra).unwrap();
    leave_statements(&bouncer).await;
    let pool = PgPool::connect_with(without_settings(&bouncer)).await.unwrap();
    let postgres = Arc::new(Postgres::with_pool(pool).await.unwrap());
    for _ in 0..30 {
        start(&postgres, "two", json!(1)).await;
    }
    let mut steps = tokio::task::JoinSet::new();
    for task in postgres.claim(&room(30)).await.unwrap().tasks {
        let postgres = Arc::clone(&postgres);
        steps.spawn(async move {
            let tx = postgres.begin(&task.lease.clone().into()).await.unwrap().expect("it is ours");
            postgres.commit(tx, &done(&task, json!(1))).await.unwrap()
        });
    }
    assert_eq!(steps.join_all().await, [Settled::Applied; 30]);
    bench.db.check().await;
}
