//! What the server knows of its sessions, and how they are harmed.

use std::time::Duration;

use sqlx::{Executor as _, MySql, Postgres, Transaction};

use super::Outcome;
use super::base::{Base, Inner};

/// What a session that listens, or sends hints, was last heard to say.
const END: &str = "select count(pg_terminate_backend(pid)) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()
      and (query ilike 'listen%' or query like '%pg_notify(%')";
/// Nobody listens: all of them.
const OTHERS_MYSQL: &str = "select cast(id as signed) from information_schema.processlist
    where db = database() and id <> connection_id()";
const WAITING: &str = "select count(*) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'";
const WAITING_MYSQL: &str = "select count(*) from information_schema.innodb_trx t
    join information_schema.processlist p on p.id = t.trx_mysql_thread_id
    where t.trx_state = 'LOCK WAIT' and p.db = database()";

/// A lock that is held until this is dropped.
pub enum Lock {
    /// By a transaction.
    Postgres(Transaction<'static, Postgres>),
    /// By a transaction.
    MySql(Transaction<'static, MySql>),
}

impl Base {
    /// Ends the sessions that listen or send hints; on MySQL all of them, and on SQLite, which has none, nothing. How many.
    pub async fn end_sessions(&self) -> Outcome<u64> {
        match &self.inner {
            Inner::Postgres(database) => {
                let ended: i64 = sqlx::query_scalar(END).fetch_one(&database.pool).await?;
                Ok(ended.unsigned_abs())
            }
            Inner::Sqlite { .. } => Ok(0),
            Inner::MySql { pool, .. } => {
                let mut own = pool.acquire().await?;
                let others: Vec<i64> =
                    sqlx::query_scalar(OTHERS_MYSQL).fetch_all(&mut *own).await?;
                for id in &others {
                    // One that has ended meanwhile is none.
                    let kill = sqlx::AssertSqlSafe(format!("kill {id}"));
                    _ = sqlx::raw_sql(kill).execute(&mut *own).await;
                }
                Ok(others.len() as u64)
            }
        }
    }

    /// How many sessions wait for a lock.
    pub async fn waiting_for_locks(&self) -> Outcome<i64> {
        Ok(match &self.inner {
            Inner::Postgres(database) => {
                sqlx::query_scalar(WAITING).fetch_one(&database.pool).await?
            }
            Inner::MySql { pool, .. } => {
                // The server looks anew only if nobody has asked for a tenth of a second.
                tokio::time::sleep(Duration::from_millis(150)).await;
                sqlx::query_scalar(WAITING_MYSQL).fetch_one(pool).await?
            }
            Inner::Sqlite { .. } => return Err("nobody waits for locks on SQLite".into()),
        })
    }

    /// Takes a lock, by a statement.
    pub async fn lock(&self, statement: &'static str) -> Outcome<Lock> {
        Ok(match &self.inner {
            Inner::Postgres(database) => {
                let mut transaction = database.pool.begin().await?;
                transaction.execute(statement).await?;
                Lock::Postgres(transaction)
            }
            Inner::MySql { pool, .. } => {
                let mut transaction = pool.begin().await?;
                transaction.execute(statement).await?;
                Lock::MySql(transaction)
            }
            Inner::Sqlite { .. } => return Err("SQLite has no locks of rows".into()),
        })
    }
}
