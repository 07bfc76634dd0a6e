//! All checks on SQLite.

use std::sync::Arc;

use pgflow_conformance::subjects::SqliteFile;
use pgflow_conformance::{Options, Subject, assert_passed, loads_what_is_asked_for, run};
use pgflow_runtime::backend::Backend as _;
use pgflow_runtime::sqlite::{Sqlite, SqliteOptions};

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_does_what_every_backend_must() {
    let subjects: Vec<Arc<dyn Subject>> =
        vec![Arc::new(SqliteFile::new()), Arc::new(SqliteFile::new())];
    assert_passed("sqlite", &run(&subjects, &Options::from_env()).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_loads_what_commands_ask_for() {
    let sqlite = Sqlite::open(&SqliteOptions::memory()).await.expect("a database");
    sqlite.migrate().await.expect("it gets its schema");
    loads_what_is_asked_for(&sqlite).await;
}
