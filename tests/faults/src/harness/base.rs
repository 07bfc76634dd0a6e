//! The database under test.

use std::path::Path;
use std::sync::Arc;

use pgflow::{Db, backend::Backend};
use pgflow_runtime::mysql::MySql;
use pgflow_runtime::sqlite::{Sqlite, SqliteOptions};
use pgflow_test_support::{MariaDb, MariaDbDatabase, Server, TestDb};
use sqlx::{MySqlPool, SqlitePool};

use super::Outcome;
use crate::{ensure, flows};

/// Which database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A server.
    Postgres,
    /// A file.
    Sqlite,
    /// A MariaDB server.
    MySql,
}

/// A database of an experiment's own, with a table `effects` that handlers write to.
pub struct Base {
    /// A client.
    pub db: Db,
    /// How other processes reach it.
    pub url: String,
    pub(super) inner: Inner,
}

pub(super) enum Inner {
    Postgres(TestDb),
    Sqlite { backend: Arc<Sqlite>, pool: SqlitePool },
    MySql { backend: Arc<MySql>, pool: MySqlPool },
}

const EFFECTS: &str = "create table effects (item bigint not null, attempt bigint not null);
  create table large (text text not null)";
/// MySQL's `text` has 64 KB at most.
const EFFECTS_MYSQL: &str = "create table effects (item bigint not null, attempt bigint not null);
  create table large (text mediumtext not null)";

impl Base {
    pub(super) async fn postgres(server: &Server, flows: &[&str]) -> Outcome<Self> {
        let database = TestDb::new_on(server).await;
        let url = database.url();
        let db = Db::connect(&url).await?;
        sqlx::raw_sql(EFFECTS).execute(&database.pool).await?;
        flows::register(&db, flows).await?;
        Ok(Self { db, url, inner: Inner::Postgres(database) })
    }

    pub(super) async fn sqlite(file: &Path, flows: &[&str]) -> Outcome<Self> {
        let url = format!("sqlite:{}", file.display());
        let backend = Arc::new(Sqlite::open(&SqliteOptions::file(file)).await?);
        backend.migrate().await?;
        let pool = SqlitePool::connect(&url).await?;
        sqlx::raw_sql(EFFECTS).execute(&pool).await?;
        let db = Db::connect(&url).await?;
        flows::register(&db, flows).await?;
        Ok(Self { db, url, inner: Inner::Sqlite { backend, pool } })
    }

    pub(super) async fn mysql(server: &MariaDb, flows: &[&str]) -> Outcome<Self> {
        let url = MariaDbDatabase::new_on(server).url();
        let backend = Arc::new(MySql::connect(&url).await?);
        backend.migrate().await?;
        let pool = MySqlPool::connect(&url).await?;
        sqlx::raw_sql(EFFECTS_MYSQL).execute(&pool).await?;
        let db = Db::connect(&url).await?;
        flows::register(&db, flows).await?;
        Ok(Self { db, url, inner: Inner::MySql { backend, pool } })
    }

    /// What handlers wrote: item and attempt, in order.
    pub async fn effects(&self) -> Outcome<Vec<(i64, i64)>> {
        let query = "select item, attempt from effects order by item, attempt";
        Ok(match &self.inner {
            Inner::Postgres(database) => sqlx::query_as(query).fetch_all(&database.pool).await?,
            Inner::Sqlite { pool, .. } => sqlx::query_as(query).fetch_all(pool).await?,
            Inner::MySql { pool, .. } => sqlx::query_as(query).fetch_all(pool).await?,
        })
    }

    /// Runs statements beside pgflow.
    pub async fn execute(&self, sql: &'static str) -> Outcome {
        match &self.inner {
            Inner::Postgres(database) => {
                sqlx::raw_sql(sql).execute(&database.pool).await?;
            }
            Inner::Sqlite { pool, .. } => {
                sqlx::raw_sql(sql).execute(pool).await?;
            }
            Inner::MySql { pool, .. } => {
                sqlx::raw_sql(sql).execute(pool).await?;
            }
        }
        Ok(())
    }

    /// The server's own view, if it is one.
    pub fn postgres_pool(&self) -> Outcome<&sqlx::PgPool> {
        match &self.inner {
            Inner::Postgres(database) => Ok(&database.pool),
            _ => Err("this experiment needs Postgres".into()),
        }
    }

    /// The ids of all runs, on a server.
    pub async fn run_ids(&self) -> Outcome<Vec<String>> {
        if let Inner::MySql { pool, .. } = &self.inner {
            let ids: Vec<Vec<u8>> =
                sqlx::query_scalar("select id from pgflow_runs").fetch_all(pool).await?;
            return ids.iter().map(|id| run_id(id)).collect();
        }
        let query = "select run_id::text from pgflow.runs";
        Ok(sqlx::query_scalar(query).fetch_all(self.postgres_pool()?).await?)
    }

    /// What completed tasks put out, as `run/step`, of one flow with these steps, on a server.
    pub async fn numbers_put_out(&self, steps: &[&str]) -> Outcome<Vec<(String, i64)>> {
        if let Inner::MySql { pool, .. } = &self.inner {
            let query = "select run, cast(step as signed), cast(output as signed) from pgflow_tasks
                where status = 'completed'";
            let rows: Vec<(Vec<u8>, i64, i64)> = sqlx::query_as(query).fetch_all(pool).await?;
            let named = rows.into_iter().map(|(run, step, output)| {
                let step = usize::try_from(step).ok().and_then(|step| steps.get(step));
                Ok((format!("{}/{}", run_id(&run)?, step.ok_or("a step of the flow")?), output))
            });
            return named.collect();
        }
        let query = "select run_id::text || '/' || step_slug, output::bigint from pgflow.step_tasks
            where status = 'completed'";
        Ok(sqlx::query_as(query).fetch_all(self.postgres_pool()?).await?)
    }

    /// How often tasks were lost by their worker, and how often given back unused.
    pub async fn losses(&self) -> Outcome<(i64, i64)> {
        if let Inner::MySql { pool, .. } = &self.inner {
            let query = "select cast(coalesce(sum(losses), 0) as signed), cast(coalesce(sum(refunded), 0) as signed) from pgflow_tasks";
            return Ok(sqlx::query_as(query).fetch_one(pool).await?);
        }
        let query = "select coalesce(sum(requeued_count), 0), coalesce(sum(refunded_count), 0) from pgflow.step_tasks";
        Ok(sqlx::query_as(query).fetch_one(self.postgres_pool()?).await?)
    }

    /// Asks the database's own checker whether all invariants hold, and Postgres whether there was a deadlock.
    pub(super) async fn check(&self) -> Outcome {
        let violations: Vec<String> = match &self.inner {
            Inner::Postgres(database) => {
                let deadlocks =
                    "select deadlocks from pg_stat_database where datname = current_database()";
                let deadlocks: i64 =
                    sqlx::query_scalar(deadlocks).fetch_one(&database.pool).await?;
                ensure!(deadlocks == 0, "there were {deadlocks} deadlocks");
                let check = sqlx::query_scalar("select v::text from pgflow.check() v");
                check.fetch_all(&database.pool).await?
            }
            Inner::Sqlite { backend, .. } => backend.check().await?,
            Inner::MySql { backend, .. } => backend.check().await?,
        };
        ensure!(violations.is_empty(), "invariants are violated: {}", violations.join("; "));
        Ok(())
    }
}

/// An id as MySQL keeps it.
fn run_id(bytes: &[u8]) -> Outcome<String> {
    let bytes = bytes.try_into().map_err(|_| "an id has 16 bytes")?;
    Ok(uuid::Uuid::from_bytes(bytes).to_string())
}
