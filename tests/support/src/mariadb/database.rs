//! A database of a test's own.

use super::MariaDb;
use crate::server::fail;
use crate::template::new_name;

/// A fresh, empty database; it goes away with the server.
#[derive(Debug)]
pub struct MariaDbDatabase {
    name: String,
    url: String,
}

impl MariaDbDatabase {
    /// On the server of this process.
    pub async fn new() -> Self {
        Self::new_on(MariaDb::shared().await)
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
