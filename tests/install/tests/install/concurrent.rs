//! Several at once.

use pgflow_install_tests::{execute, reference};
use pgflow_runtime::postgres::Report;
use pgflow_test_support::{TestDb, core};
use sqlx::postgres::{PgPool, PgPoolOptions};
use tokio::task::JoinSet;

/// One connection each, which must do.
async fn migrators(urls: Vec<String>) -> Vec<Report> {
    let mut tasks = JoinSet::new();
    for url in urls {
        tasks.spawn(async move {
            let pool: PgPool = PgPoolOptions::new().max_connections(1).connect(&url).await.unwrap();
            core().migrate(&pool).await.unwrap()
        });
    }
    tasks.join_all().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn eight_migrators_all_succeed_and_one_does_the_work() {
    let db = TestDb::empty().await;
    let reports = migrators(vec![db.url(); 8]).await;
    let busy = reports.iter().filter(|report| !report.applied.is_empty()).count();
    assert_eq!((reports.len(), busy), (8, 1));
    assert_eq!(db.schema_dump().await, reference().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sessions_that_default_to_serializable_succeed_too() {
    let db = TestDb::empty().await;
    let set = "set default_transaction_isolation = 'serializable'";
    execute(&db, &format!("alter database {} {set}", db.name())).await;
    let reports = migrators(vec![db.url(); 8]).await;
    assert_eq!(reports.iter().filter(|report| !report.applied.is_empty()).count(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn databases_of_one_server_can_be_migrated_at_once() {
    // Roles are the server's, and the lock is the database's: both have to cope.
    let mut databases = Vec::new();
    for _ in 0..4 {
        databases.push(TestDb::empty().await);
    }
    let reports = migrators(databases.iter().map(TestDb::url).collect()).await;
    assert!(reports.iter().all(|report| !report.applied.is_empty()));
}
