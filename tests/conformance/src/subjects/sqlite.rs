//! SQLite in a file, where time goes by when claims and delays are made older.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pgflow_runtime::backend::Backend;
use pgflow_runtime::sqlite::{Durability, Sqlite, SqliteOptions};
use sqlx::{Connection, SqliteConnection};
use uuid::Uuid;

use crate::subject::{Database, Later, Subject};

/// A new file for every check.
#[derive(Clone, Copy, Debug)]
pub struct SqliteFile;

/// As if all claims and delays had begun earlier.
const ADVANCE: &str = "
    update pgflow_tasks
       set ready_at = ready_at - ?1, lost_at = lost_at - ?1, started_at = started_at - ?1
     where queue >> 16 in (select id from pgflow_flows where slug = ?2)";

impl Subject for SqliteFile {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn fresh(&self) -> Later<'_, Box<dyn Database>> {
        Box::pin(async {
            let name = format!("pgflow-conformance-{}.db", Uuid::now_v7().simple());
            let file = std::env::temp_dir().join(name);
            let sqlite = open(&file).await;
            sqlite.migrate().await.expect("a new file gets a schema");
            Box::new(File { sqlite, file }) as Box<dyn Database>
        })
    }
}

struct File {
    sqlite: Arc<Sqlite>,
    file: PathBuf,
}

/// Nothing here survives a power failure, so nothing needs to.
async fn open(file: &Path) -> Arc<Sqlite> {
    let options = SqliteOptions::file(file).durability(Durability::Normal);
    Arc::new(Sqlite::open(&options).await.expect("the file can be opened"))
}

impl Database for File {
    fn backend(&self) -> Arc<dyn Backend> {
        self.sqlite.clone()
    }

    fn another(&self) -> Later<'_, Arc<dyn Backend>> {
        Box::pin(async { open(&self.file).await as Arc<dyn Backend> })
    }

    /// Root can write to any file, so that permissions would prove nothing.
    fn read_only(&self) -> Later<'_, Option<Arc<dyn Backend>>> {
        Box::pin(async { None })
    }

    fn advance<'a>(&'a self, flow: &'a str, by: Duration) -> Later<'a, ()> {
        Box::pin(async move {
            let url = format!("sqlite:{}", self.file.display());
            let mut connection = SqliteConnection::connect(&url).await.expect("the file is there");
            let micros = i64::try_from(by.as_micros()).expect("not that long");
            let query = sqlx::query(ADVANCE).bind(micros).bind(flow);
            query.execute(&mut connection).await.expect("time can be changed");
        })
    }

    fn check(&self) -> Later<'_, Vec<String>> {
        Box::pin(async { self.sqlite.check().await.expect("the checker runs") })
    }
}

impl Drop for File {
    fn drop(&mut self) {
        for end in ["", "-wal", "-shm"] {
            let mut name = self.file.clone().into_os_string();
            name.push(end);
            // Files that are not there need not be removed.
            let _ = std::fs::remove_file(name);
        }
    }
}
