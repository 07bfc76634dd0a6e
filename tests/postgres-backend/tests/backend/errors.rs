//! What errors of the server become.

use pgflow_machine::RunId;
use pgflow_postgres_backend_tests::{Bench, cause, room, start};
use pgflow_runtime::backend::{Backend, BackendError, NewRun, Runs, Work};
use pgflow_runtime::postgres::Postgres;
use pgflow_test_support::TestDb;
use serde_json::json;

fn new_run() -> NewRun {
    NewRun::new("two", json!(1), RunId::new())
}

/// Inserting a run fails with `code`, the first `times` times.
async fn stumble(bench: &Bench, code: &str, times: u32) {
    let sql = format!(
        "create sequence stumbles;
         create function stumble() returns trigger language plpgsql as $$ begin
           if nextval('public.stumbles') <= {times} then raise exception 'stumbled' using errcode = '{code}'; end if;
           return new;
         end $$;
         create trigger stumble before insert on pgflow.runs for each row execute function stumble()"
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&bench.db.pool).await.unwrap();
}

#[tokio::test]
async fn a_call_that_loses_against_another_transaction_is_repeated() {
    for code in ["40P01", "40001"] {
        let bench = Bench::new().await;
        stumble(&bench, code, 3).await;
        start(&bench.postgres, "two", json!(1)).await;
        assert_eq!(bench.claim().await.len(), 1);
    }
}

#[tokio::test]
async fn but_not_for_ever() {
    let bench = Bench::new().await;
    stumble(&bench, "40P01", 1000).await;
    let error = bench.postgres.start(new_run()).await.unwrap_err();
    assert!(matches!(error, BackendError::Unavailable(_)), "{error:?}");
    let tries: i64 = sqlx::query_scalar("select last_value from stumbles")
        .fetch_one(&bench.db.pool)
        .await
        .unwrap();
    assert_eq!(tries, 5);
}

#[tokio::test]
async fn a_database_without_the_core_says_what_to_do() {
    let db = TestDb::empty().await;
    let postgres = Postgres::connect(&db.url()).await.unwrap();
    let error = postgres.start(new_run()).await.unwrap_err();
    assert!(matches!(&error, BackendError::Schema(text) if text.contains("migrate")), "{error:?}");
    postgres.migrate().await.unwrap();
    postgres.migrate().await.unwrap();
    let error = postgres.start(new_run()).await.unwrap_err();
    assert!(matches!(&error, BackendError::UnknownFlow { .. }), "{error:?}");
}

#[tokio::test]
async fn a_read_only_database_is_unavailable_for_now() {
    let bench = Bench::new().await;
    let name = bench.db.name();
    let sql = format!("alter database {name} set default_transaction_read_only = on");
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&bench.db.pool).await.unwrap();
    let postgres = bench.other().await;
    let error = postgres.start(new_run()).await.unwrap_err();
    assert!(matches!(error, BackendError::Unavailable(_)), "{error:?}");
    let error = postgres.claim(&room(1)).await.unwrap_err();
    assert!(error.is_temporary(), "{error:?}");
}

#[tokio::test]
async fn a_server_that_is_not_there_cannot_be_reached() {
    let error = Postgres::connect("postgres://app:hunter2@127.0.0.1:9/shop").await.unwrap_err();
    assert!(matches!(error, BackendError::Unreachable(_)), "{error:?}");
    assert!(!format!("{error:?} {error} {}", cause(&error)).contains("hunter2"));
    let bench = Bench::new().await;
    assert!(!format!("{:?}", bench.postgres).contains("hunter2"));
}

#[tokio::test]
async fn connections_that_were_closed_by_the_server_are_replaced() {
    let bench = Bench::new().await;
    bench.start().await;
    bench
        .sql(
            "select pg_terminate_backend(pid) from pg_stat_activity
              where datname = current_database() and pid <> pg_backend_pid()",
        )
        .await;
    // One that was used just now is not asked first; its call says that nobody knows, and then it is gone.
    let mut failures = 0;
    while let Err(error) = bench.postgres.start(new_run()).await {
        assert!(matches!(error, BackendError::Unreachable(_)), "{error:?}");
        failures += 1;
        assert!(failures < 4, "it does not recover");
    }
}

#[tokio::test]
async fn a_closed_backend_is_closed() {
    let bench = Bench::new().await;
    bench.start().await;
    bench.claim().await;
    bench.postgres.close().await.unwrap();
    assert!(bench.postgres.start(new_run()).await.is_err());
    let stopped: bool =
        sqlx::query_scalar("select bool_and(stopped_at is not null) from pgflow.workers")
            .fetch_one(&bench.db.pool)
            .await
            .unwrap();
    assert!(stopped);
}
