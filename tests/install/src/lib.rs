//! What the tests of installing share.

mod directory;
mod relocated;

pub use directory::Directory;
pub use relocated::Relocated;

use pgflow_runtime::postgres::MigrateError;
use pgflow_test_support::TestDb;
use sqlx::AssertSqlSafe;

/// Runs statements that have to succeed.
///
/// # Panics
/// When they do not.
pub async fn execute(db: &TestDb, sql: &str) {
    sqlx::raw_sql(AssertSqlSafe(sql))
        .execute(&db.pool)
        .await
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
}

/// A single value.
///
/// # Panics
/// When the query fails.
pub async fn value(db: &TestDb, sql: &str) -> String {
    sqlx::query_scalar(AssertSqlSafe(sql))
        .fetch_one(&db.pool)
        .await
        .unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// A database without a core, because the core refused to be installed; returns why.
///
/// # Panics
/// When it was installed, or when the refusal changed something.
pub async fn refusal(db: &TestDb) -> MigrateError {
    let before = db.schema_dump().await;
    let refused = pgflow_test_support::core().migrate(&db.pool).await;
    let error = refused.expect_err("the core should have been refused");
    assert_eq!(db.schema_dump().await, before, "a refusal changes nothing");
    error
}

/// How a database looks with nothing but the core in it.
pub async fn reference() -> Vec<String> {
    TestDb::new().await.schema_dump().await
}
