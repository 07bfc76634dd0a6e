//! A database of a test's own.

use sqlx::postgres::{PgConnection, PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, Connection};
use std::path::PathBuf;
use std::time::Duration;

use crate::server::Server;
use crate::template;

/// A fresh database; it goes away with the server.
#[derive(Debug)]
pub struct TestDb {
    /// Connections to it.
    pub pool: PgPool,
    name: String,
    url: String,
}

impl TestDb {
    /// With pgmq and our core, on the server of this process.
    pub async fn new() -> Self {
        Self::new_on(Server::shared().await).await
    }

    /// With nothing in it.
    pub async fn empty() -> Self {
        Self::empty_on(Server::shared().await).await
    }

    /// With pgmq and our core, on another server.
    pub async fn new_on(server: &Server) -> Self {
        let template = template::of(server).await;
        Self::create(server, template).await
    }

    /// With nothing in it, on another server.
    pub async fn empty_on(server: &Server) -> Self {
        Self::create(server, "template0").await
    }

    async fn create(server: &Server, template: &str) -> Self {
        let name = template::new_name();
        template::create_database(server, &name, template).await;
        let url = server.url(&name);
        Self { pool: pool(&url), name, url }
    }

    /// How to reach it, as a superuser.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Its name on the server.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The directory that its server has its socket in.
    ///
    /// # Panics
    /// When the server is not one that this process started.
    pub fn socket_dir(&self) -> PathBuf {
        let host = self.url.split_once("host=").and_then(|(_, rest)| rest.split('&').next());
        host.map(PathBuf::from).expect("only a server that we started has its socket in the URL")
    }

    /// A connection that is not of the pool.
    ///
    /// # Panics
    /// When the server is gone.
    pub async fn connect(&self) -> PgConnection {
        PgConnection::connect(&self.url).await.expect("cannot connect to the test's database")
    }

    /// All definitions of the schemas `pgflow` and `pgmq`, one per line, in a stable order: equal for
    /// two databases that have the same tables, functions, types and grants.
    ///
    /// # Panics
    /// When the server is gone.
    pub async fn schema_dump(&self) -> Vec<String> {
        sqlx::query_scalar(include_str!("schema_dump.sql"))
            .fetch_all(&self.pool)
            .await
            .expect("cannot dump the schema")
    }

    /// Asks the core's own checker whether all invariants hold.
    ///
    /// # Panics
    /// With the list of violations, if there are any.
    pub async fn check(&self) {
        let violations: Vec<String> =
            sqlx::query_scalar(AssertSqlSafe("select v::text from pgflow.check() v"))
                .fetch_all(&self.pool)
                .await
                .expect("cannot run pgflow.check()");
        assert!(violations.is_empty(), "invariants are violated:\n{}", violations.join("\n"));
    }
}

/// Connects when needed; a test that starves says so instead of hanging.
fn pool(url: &str) -> PgPool {
    PgPoolOptions::new()
        .max_connections(16)
        .acquire_timeout(Duration::from_secs(30))
        .connect_lazy(url)
        .expect("our own URL is valid")
}
