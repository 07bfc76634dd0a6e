//! How the file is doing.

use std::cmp::Ordering;
use std::io::ErrorKind;

use pgflow_machine::Timestamp;
use sqlx::SqliteConnection;

use crate::error::Result;
use crate::{Sqlite, clock, migrate};
use pgflow_backend::backend::{BackendError, Checkup, SchemaState, Severity};

/// A log of this size says that somebody keeps it from being written back.
const LARGE_LOG: u64 = 256 << 20;

/// What is so, and how to ask for it.
const FACTS: &[(&str, &str)] = &[
    ("server", "select 'SQLite ' || sqlite_version()"),
    ("journal_mode", "select journal_mode from pragma_journal_mode"),
    (
        "bytes",
        "select cast(page_count * page_size as text) from pragma_page_count, pragma_page_size",
    ),
    ("free_pages", "select cast(freelist_count as text) from pragma_freelist_count"),
];

const FILE: &str = "select coalesce(file, '') from pragma_database_list where name = 'main'";

pub(super) async fn now(sqlite: &Sqlite) -> Result<Timestamp> {
    let mut tx = sqlite.connections.read().await?;
    Ok(Timestamp::from_micros(clock::now(&mut tx).await?))
}

pub(super) async fn check(sqlite: &Sqlite) -> Result<Vec<String>, BackendError> {
    Sqlite::check(sqlite).await
}

pub(super) async fn checkup(sqlite: &Sqlite) -> Result<Checkup> {
    let mut checkup = Checkup::of("sqlite");
    let mut tx = sqlite.connections.read().await?;
    for (name, query) in FACTS {
        let value: String = sqlx::query_scalar(*query).fetch_one(&mut *tx).await?;
        checkup.fact(name, value);
    }
    look_at_schema(&mut tx, &mut checkup).await?;
    let file: String = sqlx::query_scalar(FILE).fetch_one(&mut *tx).await?;
    look_at_rights(&file, &mut checkup);
    look_at_log(&file, &mut checkup);
    Ok(checkup)
}

/// Whether this process may write the file; one in memory has no name.
fn look_at_rights(file: &str, checkup: &mut Checkup) {
    let is_refused = |error: &std::io::Error| {
        matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
    };
    if std::fs::OpenOptions::new().append(true).open(file).is_err_and(|error| is_refused(&error)) {
        checkup.read_only(
            "this user may not write the file",
            "give the user the right to write it, and the directory that it is in",
        );
    }
}

fn look_at_log(file: &str, checkup: &mut Checkup) {
    let Ok(log) = std::fs::metadata(format!("{file}-wal")) else { return };
    checkup.fact("wal_bytes", log.len());
    if log.len() > LARGE_LOG {
        checkup.find(
            "large-log",
            Severity::Warning,
            format!("the write-ahead log has {} MiB", log.len() >> 20),
            "end the process that keeps a read transaction open; then the log is written back",
        );
    }
}

pub(super) async fn schema(sqlite: &Sqlite) -> Result<SchemaState> {
    let mut tx = sqlite.connections.read().await?;
    schema_state(&mut tx).await
}

async fn schema_state(connection: &mut SqliteConnection) -> Result<SchemaState> {
    let table = "select count(*) from sqlite_schema where name = 'pgflow_migrations'";
    let tables: i64 = sqlx::query_scalar(table).fetch_one(&mut *connection).await?;
    let applied = if tables == 0 { Vec::new() } else { migrate::applied(connection).await? };
    let Some((found, _)) = applied.last().cloned() else { return Ok(SchemaState::Missing) };
    let known = migrate::NEWEST.to_owned();
    Ok(match found.cmp(&known) {
        Ordering::Less => SchemaState::Behind { found, known },
        Ordering::Equal => SchemaState::Current,
        Ordering::Greater => SchemaState::Newer { found, known },
    })
}

async fn look_at_schema(connection: &mut SqliteConnection, checkup: &mut Checkup) -> Result<()> {
    let state = schema_state(connection).await?;
    checkup.schema(&state);
    if state == SchemaState::Current {
        checkup.fact("schema", migrate::NEWEST);
        if let Err(error) = migrate::check(&migrate::applied(connection).await?) {
            checkup.find(
                "schema-changed",
                Severity::Error,
                error.to_string(),
                "undo what was edited by hand",
            );
        }
    }
    Ok(())
}
