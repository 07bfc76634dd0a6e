//! What SQLite's errors mean to the engine.

use std::error::Error as StdError;

use crate::backend::{BackendError, Said};

/// Why a database file can't be used.
///
/// ```
/// use pgflow_runtime::sqlite::SqliteError;
///
/// assert!(SqliteError::InsideStep.to_string().contains("start_in"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SqliteError {
    /// The directory of the file is missing.
    #[error("cannot create the database file {file}: its directory does not exist")]
    NoDirectory {
        /// What of its path may be shown.
        file: String,
    },
    /// The URL is not one of SQLite.
    #[error("`{url}` is not the URL of an SQLite database: {why}")]
    InvalidUrl {
        /// What of the URL may be shown.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// The file can't be opened.
    #[error("cannot open the database file; is it a directory, or not ours to read?")]
    CannotOpen(#[source] Said),
    /// The file is something else.
    #[error("the file is not an SQLite database, or it is damaged")]
    NotADatabase(#[source] Said),
    /// The file, or its directory, can't be written.
    #[error("the database file is read-only")]
    ReadOnly(#[source] Said),
    /// The disk is full.
    #[error("there is no space left for the database file")]
    Full(#[source] Said),
    /// Somebody else holds the write lock for too long.
    #[error("another connection has kept the database file locked for too long")]
    Busy(#[source] Said),
    /// A step with `tx: &mut Tx` asked for the write lock that its own transaction has.
    #[error(
        "this step's own transaction has the write lock of the database file, and would be waited for in vain; \
         use the transaction, as `db.start_in(tx, …)` does, or a step without `tx`"
    )]
    InsideStep,
    /// Reading or writing the file failed.
    #[error("the database file could not be read or written")]
    Io(#[source] Said),
    /// Something that should not happen.
    #[error(transparent)]
    Other(Said),
}

/// What goes wrong inside this backend.
#[derive(Debug)]
pub(super) enum Error {
    Sqlx(sqlx::Error),
    Backend(BackendError),
}

pub(super) type Result<T, E = Error> = std::result::Result<T, E>;

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        Self::Sqlx(error)
    }
}

impl From<BackendError> for Error {
    fn from(error: BackendError) -> Self {
        Self::Backend(error)
    }
}

impl From<SqliteError> for Error {
    fn from(error: SqliteError) -> Self {
        Self::Backend(error.into())
    }
}

impl From<Error> for BackendError {
    fn from(error: Error) -> Self {
        match error {
            Error::Sqlx(error) => classify(error),
            Error::Backend(error) => error,
        }
    }
}

impl From<SqliteError> for BackendError {
    fn from(error: SqliteError) -> Self {
        let boxed: fn(Box<dyn StdError + Send + Sync>) -> Self = match error {
            SqliteError::Io(_) => Self::Unreachable,
            SqliteError::ReadOnly(_) | SqliteError::Full(_) | SqliteError::Busy(_) => {
                Self::Unavailable
            }
            _ => Self::Refused,
        };
        boxed(Box::new(error))
    }
}

/// Something in the database that this library never writes.
pub(super) fn broken(what: impl std::fmt::Display) -> Error {
    Error::Backend(BackendError::Schema(format!("{what}; was the database edited by hand?")))
}

fn classify(error: sqlx::Error) -> BackendError {
    if let sqlx::Error::Database(database) = &error
        && database.message().starts_with("no such table: pgflow_")
    {
        let text = "its tables are missing; call `migrate` first";
        return BackendError::Schema(text.to_owned());
    }
    if matches!(error, sqlx::Error::PoolClosed) {
        return BackendError::Closed;
    }
    let code = primary_code(&error);
    let kind: fn(Said) -> SqliteError = match (code, &error) {
        (Some(5 | 6 | 15), _) | (_, sqlx::Error::PoolTimedOut) => SqliteError::Busy,
        (Some(8), _) => SqliteError::ReadOnly,
        (Some(10), _) | (_, sqlx::Error::Io(_) | sqlx::Error::WorkerCrashed) => SqliteError::Io,
        (Some(13), _) => SqliteError::Full,
        (Some(14), _) => SqliteError::CannotOpen,
        (Some(11 | 26), _) => SqliteError::NotADatabase,
        _ => SqliteError::Other,
    };
    kind(Said(error)).into()
}

/// Whether it may help to ask again at once.
pub(super) fn is_busy(error: &sqlx::Error) -> bool {
    matches!(primary_code(error), Some(5 | 6 | 15))
}

/// SQLite's result code without what it adds in the upper bits, such as that a snapshot is too old.
fn primary_code(error: &sqlx::Error) -> Option<i32> {
    let code: i32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}
