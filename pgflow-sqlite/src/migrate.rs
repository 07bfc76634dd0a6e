//! The schema, brought up to date.

use pgflow_migrations::sqlite::NUMBERED;
use sha2::{Digest, Sha256};
use sqlx::SqliteConnection;

use super::clock;
use super::error::Result;
use super::open::{Connections, is_ours};
use pgflow_backend::backend::BackendError;

/// Applied migrations are recorded in a table of ours: `user_version` may be the application's.
const BOOKKEEPING: &str = "
    create table if not exists pgflow_migrations (
      name text primary key,
      checksum text not null,
      applied_at integer not null
    ) strict, without rowid";

/// Applies what is missing, in one transaction that holds the write lock from its beginning: of two processes
/// one does it, and the other finds it done.
pub(super) async fn migrate(connections: &Connections) -> Result<()> {
    if is_current(connections).await? {
        return Ok(());
    }
    connections.log_ahead().await?;
    let mut tx = connections.begin().await?;
    sqlx::query(BOOKKEEPING).execute(&mut *tx).await?;
    let applied = applied(&mut tx).await?;
    check(&applied)?;
    for (name, sql) in &NUMBERED[applied.len()..] {
        sqlx::raw_sql(*sql).execute(&mut *tx).await?;
        let now = clock::now(&mut tx).await?;
        sqlx::query("insert into pgflow_migrations (name, checksum, applied_at) values (?, ?, ?)")
            .bind(*name)
            .bind(checksum(sql))
            .bind(now)
            .execute(&mut *tx)
            .await?;
    }
    tx.commit().await?;
    Ok(())
}

/// The newest file.
pub(super) const NEWEST: &str = NUMBERED[NUMBERED.len() - 1].0;

/// Whether there is nothing to do, which takes no lock.
async fn is_current(connections: &Connections) -> Result<bool> {
    let mut tx = connections.read().await?;
    if !is_ours(&mut tx).await? {
        return Ok(false);
    }
    let applied = applied(&mut tx).await?;
    check(&applied)?;
    Ok(applied.len() == NUMBERED.len())
}

pub(super) async fn applied(connection: &mut SqliteConnection) -> Result<Vec<(String, String)>> {
    let applied = "select name, checksum from pgflow_migrations order by name";
    Ok(sqlx::query_as(applied).fetch_all(connection).await?)
}

/// Whether what was applied is a beginning of what this library knows.
pub(super) fn check(applied: &[(String, String)]) -> Result<(), BackendError> {
    for (at, (name, sum)) in applied.iter().enumerate() {
        let Some((known, sql)) = NUMBERED.get(at) else {
            return Err(BackendError::Schema(format!(
                "it is newer: migration {name} is not known here; update this program"
            )));
        };
        if name != known {
            return Err(BackendError::Schema(format!(
                "migration {name} was applied where {known} was expected"
            )));
        }
        if *sum != checksum(sql) {
            return Err(BackendError::Schema(format!(
                "migration {name} was applied with other contents than it has here"
            )));
        }
    }
    Ok(())
}

fn checksum(sql: &str) -> String {
    format!("{:x}", Sha256::digest(sql.as_bytes()))
}
