//! SQLite, whose rows are set back in time.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pgflow_machine::RunId;
use pgflow_runtime::backend::Backend;
use pgflow_runtime::sqlite::{Sqlite, SqliteOptions};
use sqlx::ConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use tokio::sync::Mutex;

use crate::subject::{Database, Guard, Later, Subject};

/// A file for every check, or one for all.
#[derive(Clone, Debug)]
pub struct SqliteFile(Option<PathBuf>);

impl SqliteFile {
    /// A new file for every check, which is deleted in the end. In memory where there is a place for that, so that
    /// the disk does not decide how long it takes.
    pub fn new() -> Self {
        Self(None)
    }

    /// This file for all checks.
    pub fn at(file: impl Into<PathBuf>) -> Self {
        Self(Some(file.into()))
    }
}

impl Default for SqliteFile {
    fn default() -> Self {
        Self::new()
    }
}

impl Subject for SqliteFile {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn fresh(&self) -> Later<'_, Box<dyn Database>> {
        Box::pin(async {
            let (path, is_ours) = self.0.clone().map_or_else(|| (new_path(), true), |p| (p, false));
            let backend = open(&SqliteOptions::file(&path)).await;
            backend.migrate().await.expect("the schema can be made");
            Box::new(File { path, is_ours, backend, clock: Mutex::default() }) as Box<dyn Database>
        })
    }
}

/// What lets time go by for the runs of a flow: for their tasks, and for when they began and ended.
const SET_BACK: &[&str] = &[
    "update pgflow_tasks
        set ready_at = ready_at - ?2, lost_at = lost_at - ?2, started_at = started_at - ?2
      where queue / 65536 = (select id from pgflow_flows where slug = ?1)",
    "update pgflow_waits set since = since - ?2, until = until - ?2
      where run_id in (select run_id from pgflow_runs where flow = (select id from pgflow_flows where slug = ?1))",
    "update pgflow_schedules set after_at = after_at - ?2, next_at = next_at - ?2 where flow = ?1",
    "update pgflow_steps set started_at = started_at - ?2, ended_at = ended_at - ?2
      where id >> 16 in (select id from pgflow_runs where flow = (select id from pgflow_flows where slug = ?1))",
    "update pgflow_runs set started_at = started_at - ?2, ended_at = ended_at - ?2
      where flow = (select id from pgflow_flows where slug = ?1)",
];

/// The same for signals, whoever they are for.
const SET_SIGNALS_BACK: &[&str] =
    &["update pgflow_signals set expires_at = expires_at - ?2 where ?1 is not null"];

/// The same for jobs whose names begin like this.
const SET_JOBS_BACK: &[&str] = &[
    "update pgflow_job_leases set until = until - ?2
      where job in (select seq from pgflow_jobs where substr(id, 1, length(?1)) = ?1)",
    "update pgflow_jobs
        set wake_at = wake_at - ?2, expires_at = expires_at - ?2, created_at = created_at - ?2
      where substr(id, 1, length(?1)) = ?1",
    "update pgflow_job_archive set ended_at = ended_at - ?2, expires_at = expires_at - ?2
      where substr(id, 1, length(?1)) = ?1",
    "update pgflow_messages set not_before = not_before - ?2 where substr(job, 1, length(?1)) = ?1",
    // What was never taken from has no moment.
    "update pgflow_permits set state = json_set(state, '$.spent', (state ->> 'spent') - ?2)
      where kind = 'rate' and substr(name, 1, length(?1)) = ?1 and (state ->> 'spent') > 0",
];

fn new_path() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let directory = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    directory.join(format!("pgflow-conformance-{}.db", RunId::new()))
}

async fn open(options: &SqliteOptions) -> Arc<Sqlite> {
    Arc::new(Sqlite::open(options).await.expect("the file can be opened"))
}

struct File {
    path: PathBuf,
    is_ours: bool,
    backend: Arc<Sqlite>,
    /// What sets rows back.
    clock: Mutex<Option<SqliteConnection>>,
}

impl File {
    async fn connect(&self) -> SqliteConnection {
        let options = SqliteConnectOptions::new().filename(&self.path);
        let options = options.busy_timeout(Duration::from_secs(30));
        options.connect().await.expect("the file can be opened")
    }
}

impl File {
    async fn set_back(&self, statements: &[&'static str], flow: &str, by: Duration) {
        let mut clock = self.clock.lock().await;
        let connection = match &mut *clock {
            Some(connection) => connection,
            None => clock.insert(self.connect().await),
        };
        let micros = i64::try_from(by.as_micros()).expect("less than 292,000 years");
        for back in statements {
            let back = sqlx::query(*back).bind(flow).bind(micros).execute(&mut *connection);
            back.await.expect("rows can be set back");
        }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        if self.is_ours {
            for end in ["", "-wal", "-shm", "-turn"] {
                let _ = std::fs::remove_file(format!("{}{end}", self.path.display()));
            }
        }
    }
}

impl Database for File {
    fn backend(&self) -> Arc<dyn Backend> {
        Arc::clone(&self.backend) as Arc<dyn Backend>
    }

    fn another(&self) -> Later<'_, Arc<dyn Backend>> {
        Box::pin(async { open(&SqliteOptions::file(&self.path)).await as Arc<dyn Backend> })
    }

    /// Somebody else has the write lock and keeps it.
    fn refusing(&self) -> Later<'_, Option<(Arc<dyn Backend>, Guard)>> {
        Box::pin(async {
            let options = SqliteOptions::file(&self.path).busy_timeout(Duration::from_millis(20));
            let backend = open(&options).await as Arc<dyn Backend>;
            let mut lock = self.connect().await;
            sqlx::query("begin immediate").execute(&mut lock).await.expect("the lock is free");
            Some((backend, Box::new(lock) as Guard))
        })
    }

    fn advance_runs<'a>(&'a self, flow: &'a str, by: Duration) -> Later<'a, ()> {
        Box::pin(self.set_back(&SET_BACK[..3], flow, by))
    }

    fn advance_signals(&self, by: Duration) -> Later<'_, ()> {
        Box::pin(self.set_back(SET_SIGNALS_BACK, "", by))
    }

    fn age<'a>(&'a self, flow: &'a str, by: Duration) -> Later<'a, ()> {
        Box::pin(async move {
            self.set_back(SET_BACK, flow, by).await;
            self.advance_signals(by).await;
        })
    }

    fn advance_jobs<'a>(&'a self, prefix: &'a str, by: Duration) -> Later<'a, ()> {
        Box::pin(self.set_back(SET_JOBS_BACK, prefix, by))
    }

    fn check(&self) -> Later<'_, Vec<String>> {
        Box::pin(async { self.backend.check().await.expect("the checker runs") })
    }
}
