//! The queue underneath: found, installed, or refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pgflow_install_tests::{execute, refusal, value};
use pgflow_runtime::postgres::{MigrateError, PgmqSource, install_pgmq};
use pgflow_test_support::{TestDb, core};
use sqlx::AssertSqlSafe;
use sqlx::postgres::PgPoolOptions;

/// With pgmq installed from SQL, and nothing else.
async fn with_pgmq() -> TestDb {
    let db = TestDb::empty().await;
    install_pgmq(&db.pool).await.unwrap();
    db
}

fn too_old(error: &MigrateError) -> (&str, &str) {
    match error {
        MigrateError::PgmqTooOld { found, help } => (found, help),
        other => panic!("expected an old pgmq, got {other:?}"),
    }
}

#[tokio::test]
async fn it_is_installed_from_sql_and_works() {
    let db = TestDb::new().await;
    let report = core().migrate(&db.pool).await.unwrap();
    assert_eq!(report.pgmq.source, PgmqSource::Sql);
    execute(&db, "select pgmq.create('q'); select pgmq.send('q', '{\"a\": 1}')").await;
    let read = "select message->>'a' from pgmq.read('q', 1, 1)";
    assert_eq!(value(&db, read).await, "1");
}

#[tokio::test]
async fn one_that_is_there_is_left_as_it_is() {
    let db = with_pgmq().await;
    execute(&db, "update pgmq.__pgmq_migrations set version = '1.5.0'").await;
    let report = core().migrate(&db.pool).await.unwrap();
    assert_eq!(report.pgmq.version.as_deref(), Some("1.5.0"));
    assert_eq!(value(&db, "select max(version) from pgmq.__pgmq_migrations").await, "1.5.0");
}

#[tokio::test]
async fn an_old_one_from_sql_is_refused() {
    let db = with_pgmq().await;
    execute(&db, "update pgmq.__pgmq_migrations set version = '1.4.5'").await;
    let error = refusal(&db).await;
    let (found, help) = too_old(&error);
    assert_eq!(found, "1.4.5");
    assert!(help.contains("install_sql_from_embedded"), "{help}");
}

#[tokio::test]
async fn an_old_extension_is_refused() {
    let db = TestDb::empty().await;
    execute(
        &db,
        "create schema pgmq;
         insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
         values (99999, 'pgmq', 10, 'pgmq'::regnamespace, false, '1.4.5')",
    )
    .await;
    let error = refusal(&db).await;
    assert_eq!(too_old(&error), ("1.4.5", "ask for it with `alter extension pgmq update`"));
}

#[tokio::test]
async fn one_that_nobody_recorded_is_judged_by_what_it_has() {
    let db = with_pgmq().await;
    execute(&db, "drop table pgmq.__pgmq_migrations").await;
    assert_eq!(core().migrate(&db.pool).await.unwrap().pgmq.version, None);

    let old = with_pgmq().await;
    execute(
        &old,
        "drop table pgmq.__pgmq_migrations;
         drop function pgmq.read_with_poll(text, int, int, int, int, jsonb)",
    )
    .await;
    assert_eq!(too_old(&refusal(&old).await).0, "before 1.5");
}

#[tokio::test]
async fn a_record_without_functions_is_said_to_be_broken() {
    let db = TestDb::empty().await;
    execute(
        &db,
        "create schema pgmq;
         create table pgmq.__pgmq_migrations (name text primary key, version text, run_at timestamptz);
         insert into pgmq.__pgmq_migrations values ('pgmq.sql', '1.13.0', now())",
    )
    .await;
    let error = refusal(&db).await;
    assert!(matches!(&error, MigrateError::PgmqBroken { recorded } if recorded == "1.13.0"));
}

/// A pooler may hand out a session in which another client of sqlx has left statements: the first two have one.
#[tokio::test]
async fn statements_that_others_left_in_a_shared_session_are_no_obstacle() {
    let db = TestDb::empty().await;
    let connected = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&connected);
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .after_connect(move |connection, _| {
            let is_shared = counter.fetch_add(1, Ordering::SeqCst) < 2;
            Box::pin(async move {
                for number in (1..=40).filter(|_| is_shared) {
                    let left = format!("prepare sqlx_s_{number} as select 1");
                    sqlx::raw_sql(AssertSqlSafe(left)).execute(&mut *connection).await?;
                }
                Ok(())
            })
        })
        .connect_lazy_with((*db.pool.connect_options()).clone());
    let pgmq = install_pgmq(&pool).await.unwrap();
    assert_eq!(pgmq.source, PgmqSource::Sql);
    assert!(connected.load(Ordering::SeqCst) >= 3, "the installer met two of them");
}
