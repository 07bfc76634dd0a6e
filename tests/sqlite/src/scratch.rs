//! A directory that goes away again.

use std::path::{Path, PathBuf};

use pgflow_runtime::backend::Backend;
use pgflow_runtime::sqlite::{Sqlite, SqliteOptions};
use uuid::Uuid;

/// A directory for one test.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// A new one.
    ///
    /// # Panics
    /// If it can't be created.
    #[expect(clippy::new_without_default, reason = "two defaults would differ")]
    pub fn new() -> Self {
        let path = std::env::temp_dir().join(format!("pgflow-sqlite-{}", Uuid::now_v7().simple()));
        std::fs::create_dir(&path).expect("a directory can be created");
        Self(path)
    }

    /// The database file in it.
    pub fn file(&self) -> PathBuf {
        self.0.join("app.db")
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The database in it, with its schema.
    ///
    /// # Panics
    /// If it can't be opened.
    pub async fn open(&self) -> Sqlite {
        let sqlite = Sqlite::open(&SqliteOptions::file(self.file())).await.expect("it opens");
        sqlite.migrate().await.expect("it gets its schema");
        sqlite
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What can't be removed is in the directory for temporary files, where nobody minds.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
