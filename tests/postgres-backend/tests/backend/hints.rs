//! Hints between processes.

use std::time::Duration;

use pgflow_model::StepShape;
use pgflow_postgres_backend_tests::{Bench, Wire, comes, done, room, start};
use pgflow_runtime::backend::{Backend, Wake, Work};
use pgflow_runtime::postgres::{Postgres, PostgresOptions};
use serde_json::json;
use sqlx::postgres::PgListener;

fn two() -> Wake {
    Wake::queue("two")
}

#[tokio::test]
async fn a_start_wakes_other_processes_and_ones_own() {
    let bench = Bench::new().await;
    let other = bench.other().await;
    let (mut here, mut there) = (bench.postgres.wakes(), other.wakes());
    assert!(comes(&mut here, &Wake::Gap).await && comes(&mut there, &Wake::Gap).await);
    bench.start().await;
    assert_eq!(here.next().await, two(), "at once");
    assert!(comes(&mut there, &two()).await);
}

#[tokio::test]
async fn results_wake_those_who_wait_for_the_next_step_or_the_end() {
    let bench = Bench::new().await;
    bench.start().await;
    let other = bench.other().await;
    let mut there = other.wakes();
    assert!(comes(&mut there, &Wake::Gap).await);
    let mut tasks = bench.claim().await;
    for _ in ["first", "second"] {
        let settles = [done(&tasks.remove(0), json!(1))];
        tasks = bench.postgres.settle(&settles, Some(&room(1))).await.unwrap().claimed.tasks;
        assert!(comes(&mut there, &two()).await);
    }
}

#[tokio::test]
async fn a_killed_listener_leaves_a_gap_and_hints_go_on() {
    let bench = Bench::new().await;
    let other = bench.other().await;
    let mut wakes = other.wakes();
    assert!(comes(&mut wakes, &Wake::Gap).await);
    for _ in 0..3 {
        bench
            .sql(
                "select pg_terminate_backend(pid) from pg_stat_activity
                  where datname = current_database() and query ilike 'listen%'",
            )
            .await;
        assert!(comes(&mut wakes, &Wake::Gap).await, "what came meanwhile is lost");
        // Two gaps: when it broke, and when it was there again.
        assert!(comes(&mut wakes, &Wake::Gap).await);
        bench.start().await;
        assert!(comes(&mut wakes, &two()).await);
    }
}

#[tokio::test]
async fn a_listener_that_is_dead_on_the_way_is_noticed() {
    let bench = Bench::new().await;
    let wire = Wire::to(&bench.db).await;
    let options = PostgresOptions {
        // An answer may take a third of that, on a busy machine too.
        check_listener_every: Duration::from_secs(3),
        ..PostgresOptions::new(wire.url())
    };
    let postgres = Postgres::open(options).await.unwrap();
    let mut wakes = postgres.wakes();
    assert!(comes(&mut wakes, &Wake::Gap).await);
    // It stays as it is while all is well.
    tokio::time::sleep(Duration::from_secs(4)).await;
    bench.start().await;
    assert_eq!(wakes.next().await, two());
    wire.fall_silent();
    tokio::time::sleep(Duration::from_millis(50)).await;
    bench.start().await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    wire.heal();
    assert!(comes(&mut wakes, &Wake::Gap).await, "nobody noticed");
    assert!(comes(&mut wakes, &Wake::Gap).await);
    bench.start().await;
    assert!(comes(&mut wakes, &two()).await);
}

#[tokio::test]
async fn a_storm_of_hints_becomes_a_few_notifications() {
    let bench = Bench::new().await;
    bench.define("map", [StepShape::new("each").map()]).await;
    start(&bench.postgres, "map", (0..500).collect()).await;
    let tasks = bench.postgres.claim(&room(500)).await.unwrap().tasks;
    let mut listener = PgListener::connect(&bench.db.url()).await.unwrap();
    listener.listen("pgflow_wake").await.unwrap();
    let began = std::time::Instant::now();
    for task in &tasks {
        bench.postgres.settle(&[done(task, json!(1))], None).await.unwrap();
    }
    let most = 8 + began.elapsed().as_millis() / 40;
    let mut heard = 0;
    while let Ok(Ok(note)) = tokio::time::timeout(Duration::from_millis(200), listener.recv()).await
    {
        assert!(note.payload().len() <= 64);
        heard += 1;
    }
    assert!(heard > 0 && heard <= most, "{heard} of at most {most}");
}

#[tokio::test]
async fn nobody_listens_where_nobody_waits() {
    let bench = Bench::new().await;
    bench.start().await;
    let count = async |last: &str| {
        let sessions = "select count(*) from pg_stat_activity
            where pid <> pg_backend_pid() and datname = current_database() and query ilike any (string_to_array($1, ' or '))";
        let count = sqlx::query_scalar::<_, i64>(sessions).bind(last);
        count.fetch_one(&bench.db.pool).await.unwrap()
    };
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(count("listen \"%").await, 0);
    let mut wakes = bench.postgres.wakes();
    assert!(comes(&mut wakes, &Wake::Gap).await);
    // It may have told others of the start since.
    assert_eq!(count("listen \"% or %pg_notify(%").await, 1);
}
