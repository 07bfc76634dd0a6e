//! A transaction in which to migrate.

use sqlx::{AssertSqlSafe, PgConnection, PgPool, Postgres, Transaction};

use super::bookkeeping::LOCK;
use super::error::{Doing, MigrateError};

/// A transaction that holds the lock. Read committed, because under a stricter level its view of
/// the database would be older than the wait for the lock.
pub(super) async fn begin(pool: &PgPool) -> Result<Transaction<'static, Postgres>, MigrateError> {
    let mut tx = pool
        .begin_with("begin isolation level read committed")
        .await
        .doing("begin a transaction")?;
    check_server(&mut tx).await?;
    execute(&mut tx, LOCK).await.doing("wait for other migrators")?;
    Ok(tx)
}

/// Runs a script of our own, over the simple protocol, which takes several statements.
pub(super) async fn execute(connection: &mut PgConnection, sql: &str) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await.map(drop)
}

async fn check_server(connection: &mut PgConnection) -> Result<(), MigrateError> {
    let query =
        "select current_setting('server_version_num')::int, current_setting('server_version')";
    let (number, found): (i32, String) = sqlx::query_as(query)
        .persistent(false)
        .fetch_one(connection)
        .await
        .doing("ask the server for its version")?;
    refuse_old_server(number, found)
}

fn refuse_old_server(number: i32, found: String) -> Result<(), MigrateError> {
    if number < 140_000 { Err(MigrateError::ServerTooOld { found }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::refuse_old_server;

    #[test]
    fn postgres_14_is_the_oldest() {
        refuse_old_server(140_000, "14.0".into()).unwrap();
        let error = refuse_old_server(130_023, "13.23".into()).unwrap_err();
        assert!(error.to_string().starts_with("Postgres 13.23 is too old"), "{error}");
    }
}
