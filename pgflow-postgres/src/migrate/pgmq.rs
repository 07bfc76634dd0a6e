//! The queue underneath: found, or installed.

use std::fmt;
use std::time::Duration;

use ::pgmq::PgmqError;
use sqlx::{PgConnection, PgPool};

use super::error::{Doing, MigrateError};
use super::session::begin;
use super::strangers;
use super::version::Version;

/// The first version whose functions we call.
const OLDEST: Version = Version::new(1, 5, 0);

/// Which pgmq a database has.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Pgmq {
    /// Its version; nothing when nobody wrote it down and it has what came with 1.5.
    pub version: Option<String>,
    /// How it came there.
    pub source: PgmqSource,
}

/// How pgmq came into a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PgmqSource {
    /// `create extension pgmq`.
    Extension,
    /// Plain SQL, by the `pgmq` crate or by hand.
    Sql,
}

impl fmt::Display for Pgmq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = self.version.as_deref().unwrap_or("1.5 or later");
        match self.source {
            PgmqSource::Extension => write!(f, "{version} (extension)"),
            PgmqSource::Sql => write!(f, "{version} (SQL)"),
        }
    }
}

/// Makes sure that a database has pgmq 1.5 or later: the extension if the server offers it, else
/// the SQL that the `pgmq` crate carries. [`migrate`](super::migrate) does this by itself; call it
/// before applying emitted files with another tool.
pub async fn install_pgmq(pool: &PgPool) -> Result<Pgmq, MigrateError> {
    loop {
        let mut tx = begin(pool).await?;
        let found = find_or_create_extension(&mut tx).await?;
        tx.commit().await.doing("commit")?;
        match found {
            Some(pgmq) => return Ok(pgmq),
            None => install_embedded(pool).await?,
        }
    }
}

/// How often a session that a pooler shares may turn out to have statements of somebody else.
const SHARED_SESSIONS: u32 = 20;

/// Runs the `pgmq` crate's installer, which has a transaction and a lock of its own. Where sessions
/// default to a stricter isolation than read committed, its view is older than its wait for that
/// lock and it fails after another one succeeded, which is as good.
pub(super) async fn install_embedded(pool: &PgPool) -> Result<(), MigrateError> {
    let Err(error) = install_in_a_clean_session(pool).await else { return Ok(()) };
    let mut tx = begin(pool).await?;
    match find(&mut tx).await? {
        Some(_) => Ok(()),
        None => Err(MigrateError::Pgmq(error)),
    }
}

/// The installer names its statements, and a pooler may give it a session where another client of sqlx has left
/// the same names. Nothing has happened then; another connection gets another session, or a cleared one.
async fn install_in_a_clean_session(pool: &PgPool) -> Result<(), PgmqError> {
    let mut tries = 1;
    loop {
        match ::pgmq::install::install_sql_from_embedded(pool).await {
            Err(error) if tries < SHARED_SESSIONS && has_statements_of_others(&error) => {
                tries += 1;
                close_idle(pool).await;
            }
            done => return done,
        }
    }
}

/// SQLSTATE 42P05, `duplicate_prepared_statement`, or 26000, `invalid_sql_statement_name`.
fn has_statements_of_others(error: &PgmqError) -> bool {
    let PgmqError::DatabaseError(sqlx::Error::Database(error)) = error else { return false };
    matches!(error.code().as_deref(), Some("42P05" | "26000"))
}

/// sqlx remembers what it has prepared on a connection, though the session behind it may have changed.
async fn close_idle(pool: &PgPool) {
    // A transaction that failed brings its connection back in the background.
    tokio::time::sleep(Duration::from_millis(20)).await;
    while let Some(connection) = pool.try_acquire() {
        // It is gone from the pool, whatever the server says.
        let _ = connection.close().await;
    }
}

/// As [`find`], after creating the extension if the server has a good one to offer.
pub(super) async fn find_or_create_extension(
    connection: &mut PgConnection,
) -> Result<Option<Pgmq>, MigrateError> {
    if let Some(pgmq) = find(connection).await? {
        return Ok(Some(pgmq));
    }
    strangers::refuse(connection).await?;
    if !is_offered(connection).await? {
        return Ok(None);
    }
    sqlx::raw_sql("create extension if not exists pgmq")
        .execute(&mut *connection)
        .await
        .doing("create the extension pgmq")?;
    find(connection).await
}

/// What the database has, if anything; refuses one that is too old.
pub(super) async fn find(connection: &mut PgConnection) -> Result<Option<Pgmq>, MigrateError> {
    if let Some(version) = extension_version(connection).await? {
        let help = "ask for it with `alter extension pgmq update`";
        return new_enough(version, PgmqSource::Extension, help).map(Some);
    }
    match (recorded_version(connection).await?, has_functions(connection).await?) {
        (None, false) => Ok(None),
        (None, true) => unrecorded(connection).await.map(Some),
        (Some(version), true) => {
            let help = "`pgmq::install::install_sql_from_embedded` of the pgmq crate upgrades it";
            new_enough(version, PgmqSource::Sql, help).map(Some)
        }
        // Its installer would believe the record and install nothing.
        (Some(recorded), false) => Err(MigrateError::PgmqBroken { recorded }),
    }
}

fn new_enough(
    version: String,
    source: PgmqSource,
    help: &'static str,
) -> Result<Pgmq, MigrateError> {
    if Version::parse(&version).is_some_and(|found| found >= OLDEST) {
        return Ok(Pgmq { version: Some(version), source });
    }
    Err(MigrateError::PgmqTooOld { found: version, help })
}

async fn extension_version(connection: &mut PgConnection) -> Result<Option<String>, MigrateError> {
    sqlx::query_scalar("select extversion from pg_catalog.pg_extension where extname = 'pgmq'")
        .persistent(false)
        .fetch_optional(connection)
        .await
        .doing("look for the extension pgmq")
}

async fn is_offered(connection: &mut PgConnection) -> Result<bool, MigrateError> {
    let query =
        "select default_version from pg_catalog.pg_available_extensions where name = 'pgmq'";
    let version: Option<String> = sqlx::query_scalar(query)
        .persistent(false)
        .fetch_optional(connection)
        .await
        .doing("ask which extensions there are")?;
    Ok(version.and_then(|version| Version::parse(&version)).is_some_and(|found| found >= OLDEST))
}

/// An empty schema `pgmq` is as good as none.
async fn has_functions(connection: &mut PgConnection) -> Result<bool, MigrateError> {
    let query = "select exists (select from pg_catalog.pg_proc p
        where p.pronamespace = pg_catalog.to_regnamespace('pgmq'))";
    yes_or_no(connection, query).await
}

/// As the `pgmq` crate records it.
async fn recorded_version(connection: &mut PgConnection) -> Result<Option<String>, MigrateError> {
    let has_table = "select pg_catalog.to_regclass('pgmq.__pgmq_migrations') is not null";
    if !yes_or_no(connection, has_table).await? {
        return Ok(None);
    }
    let versions: Vec<String> = sqlx::query_scalar("select version from pgmq.__pgmq_migrations")
        .persistent(false)
        .fetch_all(connection)
        .await
        .doing("read the version of pgmq")?;
    Ok(versions.into_iter().max_by_key(|version| Version::parse(version)))
}

/// pgmq's SQL file applied by hand records nothing: look for what came with 1.5.
async fn unrecorded(connection: &mut PgConnection) -> Result<Pgmq, MigrateError> {
    let query = "select pg_catalog.to_regprocedure(
        'pgmq.read_with_poll(text,integer,integer,integer,integer,jsonb)') is not null";
    if yes_or_no(connection, query).await? {
        return Ok(Pgmq { version: None, source: PgmqSource::Sql });
    }
    let help = "apply pgmq's upgrade scripts, or drop its schema if nothing uses it";
    Err(MigrateError::PgmqTooOld { found: "before 1.5".into(), help })
}

async fn yes_or_no(
    connection: &mut PgConnection,
    query: &'static str,
) -> Result<bool, MigrateError> {
    sqlx::query_scalar(query).persistent(false).fetch_one(connection).await.doing("look for pgmq")
}
