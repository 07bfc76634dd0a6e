//! A database on a MariaDB or MySQL server, and a second one for the control.

use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use pgflow_runtime::mysql::MySql;
use pgflow_test_support::{MariaDb, MariaDbOptions};
use sqlx::{AssertSqlSafe, Connection, MySqlConnection};

use crate::error::{BenchError, Doing, Result};
use crate::meter::process_cpu;

const INSERT: &str = "insert into inserted (note) values ('a note of some length')";

/// A database that does not exist before a case and is gone after it.
pub(crate) struct MySqlServer {
    /// Where the server is, without a database.
    base: String,
    connections: u32,
    /// Stops when it is dropped.
    server: Option<MariaDb>,
}

impl MySqlServer {
    /// The server of this URL, or one that is started for it and keeps what it commits.
    pub(super) fn new(url: Option<&str>, connections: u32) -> Result<Self> {
        if let Some(url) = url {
            return Ok(Self { base: without_database(url), connections, server: None });
        }
        let server = MariaDb::start(&MariaDbOptions { fsync: true, ..MariaDbOptions::default() })?;
        Ok(Self { base: without_database(&server.url("")), connections, server: Some(server) })
    }

    pub(super) fn url(&self) -> String {
        format!("{}/{}", self.base, database(""))
    }

    /// Makes the database of the next case, if there is none.
    pub(super) async fn make(&self) -> Result<()> {
        self.execute(&format!("create database if not exists {}", database(""))).await
    }

    /// Rows per second, one per transaction, on all connections.
    pub(super) async fn insert(&self, duration: Duration) -> Result<f64> {
        self.make_control().await?;
        let began = Instant::now();
        let lanes = (0..self.connections).map(|_| self.times(duration));
        let rows: usize = try_join_all(lanes).await?.iter().map(Vec::len).sum();
        #[expect(clippy::cast_precision_loss, reason = "there are not that many rows")]
        let rate = rows as f64 / began.elapsed().as_secs_f64();
        self.drop(&database("_control")).await?;
        Ok(rate)
    }

    /// How long each INSERT of one row takes on one connection.
    pub(super) async fn insert_times(&self, duration: Duration) -> Result<Vec<Duration>> {
        self.make_control().await?;
        let times = self.times(duration).await?;
        self.drop(&database("_control")).await?;
        Ok(times)
    }

    async fn times(&self, duration: Duration) -> Result<Vec<Duration>> {
        let mut conn = self.connect(&database("_control")).await?;
        let (mut times, end) = (Vec::new(), Instant::now() + duration);
        while Instant::now() < end {
            let start = Instant::now();
            sqlx::query(INSERT).execute(&mut conn).await.doing("inserting a row")?;
            times.push(start.elapsed());
        }
        conn.close().await.doing("closing the control's connection")?;
        Ok(times)
    }

    async fn make_control(&self) -> Result<()> {
        let control = database("_control");
        self.drop(&control).await?;
        self.execute(&format!(
            "create database {control};
             create table {control}.inserted (id bigint auto_increment primary key,
               at timestamp not null default current_timestamp, note text not null)"
        ))
        .await
    }

    /// Statements of all connections so far.
    pub(super) async fn statements(&self) -> Result<i64> {
        let mut conn = self.connect("").await?;
        let asked = sqlx::query_as("show global status like 'Questions'").fetch_one(&mut conn);
        let (_, count): (String, String) = asked.await.doing("counting statements")?;
        conn.close().await.doing("closing a connection")?;
        Ok(count.parse().unwrap_or(0))
    }

    /// CPU of the server, if it was started here.
    pub(super) fn cpu(&self) -> Option<Duration> {
        process_cpu(self.server.as_ref()?.pid()?)
    }

    /// Fails when an invariant is broken; then the database goes.
    pub(super) async fn check(&self, case: &str) -> Result<()> {
        self.make().await?;
        let mysql = MySql::connect(&self.url()).await?;
        pgflow::backend::Backend::migrate(&mysql).await?;
        let broken = mysql.check().await?;
        pgflow::backend::Backend::close(&mysql).await?;
        self.drop(&database("")).await?;
        broken.into_iter().next().map_or(Ok(()), |problem| {
            let (target, case) = ("mysql".to_owned(), case.to_owned());
            Err(BenchError::Unsound { target, case, problem })
        })
    }

    async fn drop(&self, database: &str) -> Result<()> {
        self.execute(&format!("drop database if exists {database}")).await
    }

    async fn execute(&self, sql: &str) -> Result<()> {
        let mut conn = self.connect("").await?;
        let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut conn).await;
        done.doing("making a database")?;
        conn.close().await.doing("closing a connection")
    }

    async fn connect(&self, database: &str) -> Result<MySqlConnection> {
        let connected = MySqlConnection::connect(&format!("{}/{database}", self.base)).await;
        connected.map_err(|source| BenchError::Connect { target: "mysql".into(), source })
    }
}

fn database(suffix: &str) -> String {
    format!("pgflow_bench_{}{suffix}", std::process::id())
}

/// `mysql://user@host:port` of a URL that may name a database.
fn without_database(url: &str) -> String {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..].find('/').map_or(url.len(), |at| start + at);
    url[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::without_database;

    #[test]
    fn urls_name_servers() {
        for url in ["mysql://root@localhost:3306/shop", "mysql://root@localhost:3306"] {
            assert_eq!(without_database(url), "mysql://root@localhost:3306");
        }
    }
}
