//! Ends in the middle, and what comes after.

use std::process::{Command, Stdio};
use std::time::Duration;

use pgflow_install_tests::{Directory, reference, value};
use pgflow_runtime::postgres::{Core, MigrateError};
use pgflow_test_support::{Server, ServerOptions, TestDb, core};
use sqlx::Connection;

/// In the process that has it, a test is the migrator to be killed.
const VICTIM: &str = "PGFLOW_TEST_VICTIM";

/// A core that waits in the middle until somebody lets go of this lock.
const LOCK: &str = "select pg_catalog.pg_advisory_lock(7)";

fn slow_core() -> Directory {
    let files = Directory::with_core();
    files.write(&format!("{:04}_slow.sql", core().version() + 1), &format!("{LOCK};"));
    files
}

/// Who has the lock, until it is dropped.
async fn holder(db: &TestDb) -> sqlx::PgConnection {
    let mut holder = db.connect().await;
    sqlx::query(LOCK).execute(&mut holder).await.unwrap();
    holder
}

async fn wait_for_the_middle(db: &TestDb) {
    let asleep = "select count(*)::text from pg_stat_activity
        where datname = current_database() and wait_event = 'advisory'";
    for _ in 0..3000 {
        if value(db, asleep).await == "1" {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the migrator never got to the middle");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_migrator_leaves_nothing_half_done() {
    if let Ok(victim) = std::env::var(VICTIM) {
        let (url, dir) = victim.split_once(' ').unwrap();
        let pool = sqlx::PgPool::connect(url).await.unwrap();
        let _ = Core::from_dir(dir.as_ref()).unwrap().migrate(&pool).await;
        return;
    }
    let (db, files) = (TestDb::empty().await, slow_core());
    let holder = holder(&db).await;
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::a_killed_migrator_leaves_nothing_half_done"])
        .env(VICTIM, format!("{} {}", db.url(), files.path().display()))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_for_the_middle(&db).await;
    victim.kill().unwrap();
    victim.wait().unwrap();
    holder.close().await.unwrap();
    // Waits for the lock until the server has noticed, then finds nothing of the first attempt.
    let report = core().migrate(&db.pool).await.unwrap();
    assert_eq!(report.applied.first().map(String::as_str), Some("0001_schema"));
    assert_eq!(db.schema_dump().await, reference().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_dies_comes_back_without_half_a_core() {
    let mut server =
        Server::start(ServerOptions { fsync: true, ..ServerOptions::default() }).unwrap();
    let db = TestDb::empty_on(&server).await;
    let (pool, slow) = (sqlx::PgPool::connect(&db.url()).await.unwrap(), slow_core());
    let _holder = holder(&db).await;
    let migrator = tokio::spawn(async move { slow.core().migrate(&pool).await });
    wait_for_the_middle(&db).await;
    server.kill9();
    assert!(migrator.await.unwrap().is_err());
    server.restart().unwrap();
    let pool = sqlx::PgPool::connect(&db.url()).await.unwrap();
    let report = core().migrate(&pool).await.unwrap();
    assert_eq!(report.applied.first().map(String::as_str), Some("0001_schema"));
    assert_eq!(db.schema_dump().await, TestDb::new_on(&server).await.schema_dump().await);
}

#[tokio::test]
async fn an_error_in_any_file_undoes_all_of_them() {
    let db = TestDb::empty().await;
    pgflow_runtime::postgres::install_pgmq(&db.pool).await.unwrap();
    let before = db.schema_dump().await;
    for name in ["0001_schema", "functions/start_flow", "after/zzz"] {
        let files = Directory::with_core();
        files.write(&format!("{name}.sql"), "create table pgflow.half (); select 1/0;");
        let error = files.core().migrate(&db.pool).await.unwrap_err();
        assert!(
            matches!(&error, MigrateError::Apply { file, .. } if file == name),
            "{name}: {error}"
        );
        assert_eq!(db.schema_dump().await, before, "{name}");
    }
    core().migrate(&db.pool).await.unwrap();
    assert_eq!(db.schema_dump().await, reference().await);
}
