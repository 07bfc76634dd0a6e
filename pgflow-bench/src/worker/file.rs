//! A SQLite file, and a second one for the control.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pgflow_runtime::sqlite::Sqlite;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection};

use crate::error::{BenchError, Doing, Result};

/// A file that does not exist before a case and is gone after it.
pub(crate) struct File {
    path: PathBuf,
}

impl File {
    /// The file of a URL such as `sqlite:bench.db`, or one where temporary files are kept.
    pub(super) fn new(url: Option<&str>) -> Result<Self> {
        let path = url.map_or_else(in_temp_dir, of_url);
        if path.exists() {
            return Err(BenchError::FileExists { path });
        }
        Ok(Self { path })
    }

    pub(super) fn url(&self) -> String {
        format!("sqlite:{}", self.path.display())
    }

    /// Times of one-row transactions on the one connection that may write, each of them on disk.
    pub(super) async fn insert(&self, duration: Duration) -> Result<Vec<Duration>> {
        let path = self.control();
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full);
        let mut conn = options.connect().await.doing("opening the control's file")?;
        let table = "create table inserted (id integer primary key, at text not null default current_timestamp, note text not null)";
        sqlx::query(table).execute(&mut conn).await.doing("preparing the INSERT control")?;
        let (mut times, end) = (Vec::new(), Instant::now() + duration);
        while Instant::now() < end {
            let start = Instant::now();
            sqlx::query("insert into inserted (note) values ('a note of some length')")
                .execute(&mut conn)
                .await
                .doing("inserting a row")?;
            times.push(start.elapsed());
        }
        conn.close().await.doing("closing the control's file")?;
        remove(&path);
        Ok(times)
    }

    /// Fails when an invariant is broken; then the file goes.
    pub(super) async fn check(&self, case: &str) -> Result<()> {
        if !self.path.exists() {
            return Ok(()); // The control has a file of its own.
        }
        let sqlite = Sqlite::connect(&self.url()).await?;
        let broken = sqlite.check().await?;
        pgflow::backend::Backend::close(&sqlite).await?;
        remove(&self.path);
        broken.into_iter().next().map_or(Ok(()), |problem| {
            let (target, case) = ("sqlite".to_owned(), case.to_owned());
            Err(BenchError::Unsound { target, case, problem })
        })
    }

    fn control(&self) -> PathBuf {
        self.path.with_extension("control")
    }
}

impl Drop for File {
    fn drop(&mut self) {
        remove(&self.path);
        remove(&self.control());
    }
}

fn in_temp_dir() -> PathBuf {
    std::env::temp_dir().join(format!("pgflow_bench_{}.db", std::process::id()))
}

fn of_url(url: &str) -> PathBuf {
    let path = url.split_once(':').map_or(url, |(_, path)| path);
    PathBuf::from(path.strip_prefix("//").unwrap_or(path))
}

/// With the files that SQLite keeps beside it; some of them may not be there.
fn remove(path: &Path) {
    for suffix in ["", "-wal", "-shm", "-turn"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        let _ = std::fs::remove_file(PathBuf::from(name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_name_files() {
        for (url, path) in
            [("sqlite:a.db", "a.db"), ("sqlite:///tmp/a.db", "/tmp/a.db"), ("file:b", "b")]
        {
            assert_eq!(of_url(url), PathBuf::from(path));
        }
    }

    #[test]
    fn a_file_that_is_there_is_not_touched() {
        let file = File::new(Some("sqlite:Cargo.toml"));
        assert!(matches!(file, Err(BenchError::FileExists { .. })));
        assert!(Path::new("Cargo.toml").exists());
    }
}
