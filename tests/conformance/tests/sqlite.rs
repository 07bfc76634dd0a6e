//! All checks on SQLite.

use std::sync::Arc;

use pgflow_conformance::subjects::SqliteFile;
use pgflow_conformance::{Options, Subject, assert_passed, run};

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_does_what_every_backend_must() {
    let subjects: Vec<Arc<dyn Subject>> =
        vec![Arc::new(SqliteFile::new()), Arc::new(SqliteFile::new())];
    assert_passed("sqlite", &run(&subjects, &Options::from_env()).await);
}
