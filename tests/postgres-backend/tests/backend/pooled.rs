//! Behind a pooler that shares sessions between transactions.

use std::sync::Arc;

use pgflow_machine::Settled;
use pgflow_postgres_backend_tests::{Bench, Pooler, comes, done, room, start};
use pgflow_runtime::backend::{Backend, Wake};
use pgflow_runtime::postgres::{Postgres, PostgresOptions};
use serde_json::json;

fn two() -> Wake {
    Wake::Flow(Arc::from("two"))
}

#[tokio::test]
async fn everything_works_without_a_session() {
    let bench = Bench::new().await;
    let pooler = Pooler::to(&bench.db).await;
    let postgres = Postgres::connect(&pooler.url()).await.unwrap();
    for _ in 0..5 {
        start(&postgres, "two", json!(1)).await;
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
    bench.db.check().await;
}

#[tokio::test]
async fn there_are_no_hints_from_others_but_ones_own_and_to_others() {
    let bench = Bench::new().await;
    let pooler = Pooler::to(&bench.db).await;
    let postgres = Postgres::connect(&pooler.url()).await.unwrap();
    let (mut here, mut there) = (postgres.wakes(), bench.postgres.wakes());
    assert!(comes(&mut there, &Wake::Gap).await);
    start(&postgres, "two", json!(1)).await;
    assert_eq!(here.next().await, two(), "no gap before it, since nobody listens");
    assert!(comes(&mut there, &two()).await, "others can listen");
}

#[tokio::test]
async fn a_direct_connection_brings_hints_back() {
    let bench = Bench::new().await;
    let pooler = Pooler::to(&bench.db).await;
    let listen_url = Some(bench.db.url());
    let options = PostgresOptions { listen_url, ..PostgresOptions::new(pooler.url()) };
    let postgres = Postgres::open(options).await.unwrap();
    let mut wakes = postgres.wakes();
    assert!(comes(&mut wakes, &Wake::Gap).await);
    bench.start().await;
    assert!(comes(&mut wakes, &two()).await);
}
