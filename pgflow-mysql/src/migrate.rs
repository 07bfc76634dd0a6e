//! The schema, brought up to date.
//!
//! Every statement that changes the schema commits by itself, so a migration can end at any of them. Each statement is a step
//! of its own in a journal, noted before and after: what was begun and not done is applied again, and then whatever
//! it had already made is no mistake.

mod journal;
mod statements;

use std::cmp::Ordering;
use std::time::Duration;

use pgflow_backend::backend::{BackendError, SchemaState};
use sha2::{Digest, Sha256};
use sqlx::{Connection as _, MySqlConnection};

use crate::connections::Connections;
use crate::error::{Result, number};
use journal::{Journal, Noted};
pub(crate) use statements::{Statement, all};

/// How long the migration of another process is waited for.
const PATIENCE: Duration = Duration::from_mins(1);

/// What a statement says that is applied for the second time: its table, column, index, row or constraint is there, or is gone. Of a
/// constraint MariaDB says 1826 and 1091, MySQL 3822 and 3940.
const DONE_BEFORE: &[u16] = &[1050, 1060, 1061, 1062, 1091, 1826, 3822, 3940];

/// What the tables are like, compared with what this library knows; with what was edited by hand, if anything was.
pub(crate) async fn look(
    connection: &mut MySqlConnection,
) -> Result<(SchemaState, Option<BackendError>)> {
    if !journal::exists(connection).await? {
        return Ok((SchemaState::Missing, None));
    }
    let (statements, journal) = (all(), Journal::read(connection).await?);
    let Some(found) = journal.newest() else { return Ok((SchemaState::Missing, None)) };
    let known = newest();
    let edited = journal.check(&statements).err();
    let state = match found.cmp(&known) {
        Ordering::Less => SchemaState::Behind { found, known },
        Ordering::Equal => SchemaState::Current,
        Ordering::Greater => SchemaState::Newer { found, known },
    };
    Ok((state, edited))
}

/// The last statement that this library knows.
pub(crate) fn newest() -> String {
    all().pop().map(|statement| statement.name).unwrap_or_default()
}

/// Applies what is missing. Of two processes one does it, and the other finds it done.
pub(crate) async fn migrate(connections: &Connections) -> Result<()> {
    let mut connection = connections.connect().await?;
    let statements = all();
    if journal::exists(&mut connection).await? {
        let journal = Journal::read(&mut connection).await?;
        if journal.check(&statements)?.is_empty() {
            return Ok(connection.close().await?);
        }
    }
    let lock = lock_name(connections.database());
    lock_schema(&mut connection, &lock).await?;
    let migrated = apply(&mut connection, &statements).await;
    // The lock ends with the session in any case.
    let _ = connection.close().await;
    migrated
}

async fn apply(connection: &mut MySqlConnection, statements: &[Statement]) -> Result<()> {
    journal::create(connection).await?;
    let journal = Journal::read(connection).await?;
    for statement in journal.check(statements)? {
        let noted = journal.noted(&statement.name);
        if noted == Noted::Nothing {
            journal::begin(connection, statement).await?;
        }
        match sqlx::raw_sql(statement.sql).execute(&mut *connection).await {
            Err(error) if noted == Noted::Begun && is_in_the_way(&error) => {}
            Err(error) => {
                if is_in_the_way(&error) {
                    journal::forget(connection, statement).await?;
                }
                return Err(explained(statement, error));
            }
            Ok(_) => {}
        }
        journal::done(connection, statement).await?;
    }
    Ok(())
}

/// Whether something of this name is there. If the statement was not begun before, it is another's, and the next migration must not
/// take it for ours.
fn is_in_the_way(error: &sqlx::Error) -> bool {
    DONE_BEFORE.contains(&number(error))
}

/// A table of another's is no reason to go on.
fn explained(statement: &Statement, error: sqlx::Error) -> crate::error::Error {
    if !is_in_the_way(&error) {
        return error.into();
    }
    let text = format!("{} cannot be applied: {}", statement.name, crate::error::text(&error));
    BackendError::Schema(text).into()
}

async fn lock_schema(connection: &mut MySqlConnection, name: &str) -> Result<()> {
    let query = sqlx::query_scalar("select cast(get_lock(?, ?) as signed)").bind(name);
    let got: Option<i64> = query.bind(PATIENCE.as_secs()).fetch_one(connection).await?;
    if got == Some(1) {
        return Ok(());
    }
    let text = "another process has been migrating this database for a minute";
    Err(BackendError::Unavailable(text.into()).into())
}

/// Locks are of the whole server, and their names are short.
fn lock_name(database: &str) -> String {
    format!("pgflow_migrate_{}", &checksum(database)[..32])
}

fn checksum(text: &str) -> String {
    format!("{:x}", Sha256::digest(text.as_bytes()))
}
