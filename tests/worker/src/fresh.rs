//! A database of its own for every test.

use std::any::Any;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use pgflow::{Db, Flow, Worker};
use pgflow_test_support::{MariaDbDatabase, TestDb};

use crate::{Outcome, Working};

/// A database that nobody else uses, and that is gone after the test.
pub struct Fresh {
    /// A handle to it.
    pub db: Db,
    /// How to connect to it.
    pub url: String,
    _kept: Box<dyn Any + Send>,
}

impl Fresh {
    /// In this process.
    pub async fn memory() -> Outcome<Self> {
        Self::at("memory:".to_owned(), Box::new(())).await
    }

    /// In a file.
    pub async fn sqlite() -> Outcome<Self> {
        let file = TempFile::new();
        Self::at(format!("sqlite:{}", file.0.display()), Box::new(file)).await
    }

    /// On a real MariaDB.
    pub async fn mysql() -> Outcome<Self> {
        Self::at(MariaDbDatabase::new().await.url(), Box::new(())).await
    }

    /// On a real server.
    pub async fn postgres() -> Outcome<Self> {
        let database = TestDb::new().await;
        Self::at(database.url(), Box::new(database)).await
    }

    async fn at(url: String, kept: Box<dyn Any + Send>) -> Outcome<Self> {
        let db = Db::connect(&url).await?;
        db.migrate().await?;
        Ok(Self { db, url, _kept: kept })
    }

    /// A worker for this flow, which is registered first.
    pub async fn work<F: Flow + Copy>(&self, flow: F) -> Outcome<Working> {
        self.db.register(flow).await?;
        Ok(Working::start(Worker::new(&self.db).flow(flow)))
    }
}

/// A file that is removed with all that SQLite puts beside it.
struct TempFile(PathBuf);

impl TempFile {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("pgflow-worker-{}-{number}.db", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        for suffix in ["", "-wal", "-shm", "-turn"] {
            _ = std::fs::remove_file(format!("{}{suffix}", self.0.display()));
        }
    }
}
