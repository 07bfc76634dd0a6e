//! What SQLite's errors mean to the engine.

use std::error::Error as StdError;

use pgflow_backend::backend::{BackendError, SqlError};

/// Why a database file can't be used.
///
/// ```
/// use pgflow_sqlite::SqliteError;
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
    #[error(
        "cannot open the database file; is it a directory, not ours to read, or in a directory that is not ours to write?"
    )]
    CannotOpen(#[source] SqlError),
    /// The file is something else.
    #[error("the file is not an SQLite database, or it is damaged")]
    NotADatabase(#[source] SqlError),
    /// The file, or its directory, can't be written.
    #[error("the database file is read-only")]
    ReadOnly(#[source] SqlError),
    /// The disk is full.
    #[error("there is no space left for the database file")]
    Full(#[source] SqlError),
    /// Somebody else holds the write lock for too long.
    #[error("another connection has kept the database file locked for too long")]
    Busy(#[source] SqlError),
    /// A step with `tx: &mut Tx` asked for the write lock that its own transaction has.
    #[error(
        "this step's own transaction has the write lock of the database file, and would be waited for in vain; \
         use the transaction, as `db.start_in(tx, …)` does, or a step without `tx`"
    )]
    InsideStep,
    /// Reading or writing the file failed.
    #[error("the database file could not be read or written")]
    Io(#[source] SqlError),
    /// A text or a blob is larger than SQLite takes.
    #[error("this is larger than SQLite can store")]
    TooBig(#[source] SqlError),
    /// Something that should not happen.
    #[error(transparent)]
    Other(SqlError),
}

pgflow_backend::store_errors!(SqliteError, classify);

impl From<SqliteError> for BackendError {
    fn from(error: SqliteError) -> Self {
        let boxed: fn(Box<dyn StdError + Send + Sync>) -> Self = match error {
            SqliteError::Io(_) => Self::Unreachable,
            SqliteError::ReadOnly(_) | SqliteError::Full(_) | SqliteError::Busy(_) => {
                Self::Unavailable
            }
            SqliteError::TooBig(_) => Self::Unstorable,
            _ => Self::Refused,
        };
        boxed(Box::new(error))
    }
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
    kind(&error)(SqlError(error)).into()
}

/// Makes an error of what the database said.
type Kind = fn(SqlError) -> SqliteError;

/// What a result code means; whatever is not here is a refusal, and results wait.
const MEANINGS: &[(i32, Kind)] = &[
    (5, SqliteError::Busy),
    (6, SqliteError::Busy),
    (15, SqliteError::Busy),
    (8, SqliteError::ReadOnly),
    (10, SqliteError::Io),
    (13, SqliteError::Full),
    (14, SqliteError::CannotOpen),
    (11, SqliteError::NotADatabase),
    (26, SqliteError::NotADatabase),
    (18, SqliteError::TooBig),
];

/// Codes that concern the whole file: no step is at fault that meets one of them.
const FILE_WIDE: &[i32] = &[8, 10, 13];

fn kind(error: &sqlx::Error) -> Kind {
    let code = primary_code(error);
    match error {
        sqlx::Error::PoolTimedOut => SqliteError::Busy,
        sqlx::Error::Io(_) | sqlx::Error::WorkerCrashed => SqliteError::Io,
        _ => {
            let found = MEANINGS.iter().find(|(known, _)| Some(*known) == code);
            found.map_or(SqliteError::Other, |(_, kind)| *kind)
        }
    }
}

/// An error of a step's commit: what is checked then is what the step did, unless the file is in trouble.
pub(super) fn not_committed(error: sqlx::Error) -> Error {
    if error.as_database_error().is_none() || is_file_wide(&error) {
        return error.into();
    }
    Error::Backend(BackendError::NotCommitted(Box::new(SqlError(error))))
}

/// Whether the file as a whole can't be written.
pub fn is_file_wide(error: &sqlx::Error) -> bool {
    primary_code(error).is_some_and(|code| FILE_WIDE.contains(&code))
}

/// Whether it may help to ask again at once.
pub(super) fn is_busy(error: &sqlx::Error) -> bool {
    matches!(primary_code(error), Some(5 | 6 | 15))
}

/// Whether SQLite may not write what it has to, be it beside a file that it reads.
pub(super) fn cannot_write(error: &Error) -> bool {
    matches!(error, Error::Sqlx(error) if matches!(primary_code(error), Some(8 | 14)))
}

/// SQLite's result code without what it adds in the upper bits, such as that a snapshot is too old.
fn primary_code(error: &sqlx::Error) -> Option<i32> {
    let code: i32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}
