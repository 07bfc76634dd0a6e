//! Files for other tools refuse what `migrate` refuses.

use std::process::Command;

use pgflow_install_tests::{Directory, execute};
use pgflow_runtime::postgres::Format;
use pgflow_test_support::{Server, TestDb, core};

/// What the last file of a format says of an installed core after a change.
async fn after(format: Format, change: &str) -> Result<(), String> {
    let (db, dir) = (TestDb::new().await, Directory::empty());
    execute(&db, change).await;
    let file = core().emit(format, dir.path()).unwrap().pop().unwrap();
    let program = Server::shared().await.program("psql");
    let mut command = Command::new(program);
    command.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", &db.url()]);
    if format != Format::Psql {
        command.arg("-1"); // the tool brings the transaction
    }
    let output = command.arg("-f").arg(file).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(said) }
}

const CHANGES: &[(&str, &str)] = &[
    (
        "update pgflow.migrations set library = '99.1.0' where version = 1",
        "is newer (0001_schema of version 99.1.0)",
    ),
    (
        "insert into pgflow.migrations (name, version, checksum, library) values ('9999_later', 9999, 'x', '0.0.1')",
        "is newer (9999_later of version 0.0.1)",
    ),
    (
        "update pgflow.migrations set checksum = 'other' where version = 2",
        "0002_definitions was applied with other contents",
    ),
    (
        "alter function pgflow.is_valid_slug(text) security definer",
        "function is_valid_slug(text) is not the one installed",
    ),
    (
        "drop function pgflow.mark_worker_stopped(uuid)",
        "function mark_worker_stopped(uuid) is gone",
    ),
    (
        "create function pgflow.more() returns void language sql as 'select'",
        "function more() was added",
    ),
    (
        "alter table pgflow.workers drop column stopped_at",
        "column stopped_at of pgflow.workers is missing",
    ),
    ("alter table pgflow.workers add column more int", "unexpected column more of pgflow.workers"),
    (
        "alter table pgflow.worker_functions alter column enabled type text",
        "column enabled of pgflow.worker_functions is text not null instead of boolean not null",
    ),
];

#[tokio::test]
async fn psql_stops_at_a_schema_that_is_newer_or_was_changed() {
    for (change, says) in CHANGES {
        let error = after(Format::Psql, change).await.expect_err(change);
        assert!(error.contains(says), "{change}: {error}");
    }
}

#[tokio::test]
async fn a_sequence_stops_there_too() {
    for format in [Format::Sqlx, Format::Refinery] {
        for (change, says) in [CHANGES[0], CHANGES[4]] {
            let error = after(format, change).await.expect_err(change);
            assert!(error.contains(says), "{change}: {error}");
        }
    }
}

#[tokio::test]
async fn an_index_of_the_users_own_is_none_of_our_business() {
    let index = "create index mine on pgflow.runs (status)";
    after(Format::Psql, index).await.unwrap();
    after(Format::Sqlx, index).await.unwrap();
}
