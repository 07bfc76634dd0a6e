//! A database of a test's own.

use std::process::Command;

use pgflow_test_programs::{MARIADB, Result, run};

use super::MariaDb;
use crate::server::fail;
use crate::template::new_name;

/// Names a server to use instead of starting one.
const SERVER: &str = "PGFLOW_TEST_MYSQL_URL";

/// A fresh, empty database; it goes away with the server, unless that is one of `PGFLOW_TEST_MYSQL_URL`.
#[derive(Debug)]
pub struct MariaDbDatabase {
    name: String,
    url: String,
}

impl MariaDbDatabase {
    /// On the server of this process.
    pub async fn new() -> Self {
        match std::env::var(SERVER) {
            Ok(url) => Self::new_at(&url).unwrap_or_else(|error| fail(&error)),
            Err(_) => Self::new_on(MariaDb::shared().await),
        }
    }

    /// On the server at `mysql://user@host:port`.
    fn new_at(server: &str) -> Result<Self> {
        let server = server.trim_end_matches('/');
        let address = server.split_once("://").map_or(server, |(_, rest)| rest);
        let (user, address) = address.split_once('@').unwrap_or(("root", address));
        let (host, port) = address.split_once(':').unwrap_or((address, "3306"));
        let name = new_name();
        run(Command::new(MARIADB.directories()?[1].join("mariadb"))
            .args([
                "--no-defaults",
                "--protocol=tcp",
                "--host",
                host,
                "--port",
                port,
                "--user",
                user,
            ])
            .args(["--execute", &format!("create database {name}")]))?;
        Ok(Self { url: format!("{server}/{name}"), name })
    }

    /// On another server.
    ///
    /// # Panics
    /// When the server is gone.
    pub fn new_on(server: &MariaDb) -> Self {
        let name = new_name();
        server.sql(&format!("create database {name}")).unwrap_or_else(|error| fail(&error));
        Self { url: server.url(&name), name }
    }

    /// How to reach it, with all rights.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Its name on the server.
    pub fn name(&self) -> &str {
        &self.name
    }
}
