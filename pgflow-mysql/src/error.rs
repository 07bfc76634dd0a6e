//! What errors of the server mean to the engine.

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use pgflow_backend::backend::{BackendError, SqlError};
use sqlx::mysql::MySqlDatabaseError;

use crate::Version;

/// Why a database cannot be used.
///
/// ```
/// use pgflow_mysql::{MySqlError, MySqlOptions};
///
/// let error = "mysql://app@db.example".parse::<MySqlOptions>().unwrap_err();
/// assert!(matches!(error, MySqlError::InvalidUrl { .. }));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MySqlError {
    /// The URL is not one of MySQL.
    #[error("`{url}` is not the URL of a MySQL or MariaDB database: {why}")]
    InvalidUrl {
        /// What of the URL may be shown.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// The server is older than what the library was made for.
    #[error("the server is {found}, and pgflow needs MariaDB 10.6 or MySQL 8.0.22, or a newer one")]
    TooOld {
        /// What it says it is.
        found: Version,
    },
    /// The server does not say which version it is of.
    #[error("the server says that it is `{said}`, which is no version of MySQL or MariaDB")]
    NoVersion {
        /// What it says.
        said: String,
    },
    /// The session is not as it was set up, so a proxy or the server changed it.
    #[error(
        "the session has `{setting}` = `{found}` where pgflow set `{wanted}`; does a proxy or the server change it?"
    )]
    Session {
        /// The variable.
        setting: &'static str,
        /// What it is.
        found: String,
        /// What it has to be.
        wanted: String,
    },
    /// The server cannot keep tables as they have to be kept.
    #[error("the server has no InnoDB, which pgflow's tables need")]
    NoInnoDb,
    /// The server's replication log does not go with the isolation level.
    #[error(
        "the server has `binlog_format = STATEMENT`, which refuses every write at the isolation level READ COMMITTED\n\
         help: set `binlog_format` to ROW or MIXED"
    )]
    StatementLog,
    /// A commit may be lost, and `durability=strict` was asked for.
    #[error("{why}, and `durability=strict` was asked for")]
    NotDurable {
        /// What the server is set to.
        why: String,
    },
    /// Not even a small payload fits into what the server takes at once.
    #[error("the server has `max_allowed_packet = {bytes}`, and pgflow needs at least {least}")]
    SmallPackets {
        /// What it is set to.
        bytes: u64,
        /// What it has to be.
        least: u64,
    },
    /// The server did not let us in.
    #[error("the server refused user or password")]
    Login(#[source] SqlError),
    /// There is no such database.
    #[error(
        "the server has no such database; create it first: `CREATE DATABASE … CHARACTER SET utf8mb4`"
    )]
    NoDatabase(#[source] SqlError),
    /// The user may not do this.
    #[error(
        "the user lacks a right on the database; pgflow needs SELECT, INSERT, UPDATE and DELETE, and to migrate also CREATE, ALTER, INDEX, DROP and CREATE VIEW"
    )]
    NoRight(#[source] SqlError),
    /// The server takes no writes.
    #[error("the server is read-only")]
    ReadOnly(#[source] SqlError),
    /// The disk is full.
    #[error("the server has no space left")]
    Full(#[source] SqlError),
    /// The server has too many connections.
    #[error("the server has no connection left")]
    NoConnection(#[source] SqlError),
    /// Other transactions came first, again and again.
    #[error("other transactions were in the way too often")]
    Busy(#[source] SqlError),
    /// A payload is longer than a column takes.
    #[error("a column of the server does not take this")]
    TooBig(#[source] SqlError),
    /// What was sent together is larger than the server is set to take: that can be changed, so it says nothing about a payload.
    #[error(
        "this is larger than the server is set to take\nhelp: `max_allowed_packet` and `group_concat_max_len` say how much that is"
    )]
    SmallLimit(#[source] SqlError),
    /// A column does not take what a payload says.
    #[error("this has a character or number that the server cannot keep there")]
    Unfit(#[source] SqlError),
    /// The connection is gone.
    #[error(transparent)]
    Lost(SqlError),
    /// Something that should not happen.
    #[error(transparent)]
    Other(SqlError),
}

pgflow_backend::store_errors!(MySqlError, translate);

impl From<MySqlError> for BackendError {
    fn from(error: MySqlError) -> Self {
        let boxed: fn(Box<dyn StdError + Send + Sync>) -> Self = match error {
            MySqlError::Lost(_) => Self::Unreachable,
            MySqlError::ReadOnly(_)
            | MySqlError::Full(_)
            | MySqlError::NoConnection(_)
            | MySqlError::Busy(_) => Self::Unavailable,
            MySqlError::TooBig(_) | MySqlError::Unfit(_) => Self::Unstorable,
            _ => Self::Refused,
        };
        boxed(Box::new(error))
    }
}

/// Makes an error of what the server said.
type Kind = fn(SqlError) -> MySqlError;

/// What numbers mean; of all others nobody can say that it lies in what was to be stored: they are refusals, and
/// results wait.
const MEANINGS: &[(u16, Kind)] = &[
    (3, MySqlError::Full),            // cannot write a file
    (20, MySqlError::Full),           // disk full
    (1020, MySqlError::Busy),         // a record changed since it was read
    (1021, MySqlError::Full),         // disk full
    (1030, MySqlError::Full),         // the storage engine cannot write
    (1040, MySqlError::NoConnection), // too many connections
    (1041, MySqlError::NoConnection), // out of memory
    (1044, MySqlError::NoRight),      // on the database
    (1045, MySqlError::Login),        // wrong password
    (1049, MySqlError::NoDatabase),   // unknown database
    (1053, MySqlError::Lost),         // the server shuts down
    (1062, MySqlError::Busy),         // another transaction inserted the same
    (1077, MySqlError::Lost),         // normal shutdown
    (1079, MySqlError::Lost),         // shutdown complete
    (1114, MySqlError::Full),         // a table is full
    (1129, MySqlError::NoConnection), // this host is blocked
    (1142, MySqlError::NoRight),      // on a table
    (1143, MySqlError::NoRight),      // on a column
    (1152, MySqlError::Lost),         // aborted connection
    (1153, MySqlError::SmallLimit),   // larger than max_allowed_packet
    (1158, MySqlError::Lost),         // reading from the network
    (1159, MySqlError::Lost),         // the same, in time
    (1160, MySqlError::Lost),         // writing to the network
    (1161, MySqlError::Lost),         // the same, in time
    (1184, MySqlError::Lost),         // aborted connection
    (1203, MySqlError::NoConnection), // of this user
    (1205, MySqlError::Busy),         // a lock that somebody keeps
    (1206, MySqlError::Busy),         // no room for more locks
    (1213, MySqlError::Busy),         // a deadlock
    (1226, MySqlError::NoConnection), // a limit of this user
    (1227, MySqlError::NoRight),      // of the whole server
    (1260, MySqlError::SmallLimit),   // cut by GROUP_CONCAT
    (1290, MySqlError::ReadOnly),     // --read-only
    (1301, MySqlError::SmallLimit),   // the result is larger than max_allowed_packet
    (1317, MySqlError::Busy),         // interrupted
    (1366, MySqlError::Unfit),        // a character, or a number, that the column does not take
    (1370, MySqlError::NoRight),      // on a routine
    (1406, MySqlError::TooBig),       // too long for a column
    (1614, MySqlError::Busy),         // rolled back by a distributed deadlock
    (1698, MySqlError::Login),        // no login for this user
    (1792, MySqlError::ReadOnly),     // a read-only transaction
    (1836, MySqlError::ReadOnly),     // read-only mode
    (1927, MySqlError::Lost),         // the connection was killed
    (1969, MySqlError::Busy),         // max_statement_time of MariaDB
    (3024, MySqlError::Busy),         // max_execution_time of MySQL
    (3101, MySqlError::Busy),         // rolled back by the group: another member was first
    (3572, MySqlError::Busy),         // NOWAIT
    (4031, MySqlError::Lost),         // the server closed an idle connection
];

/// A table or a column of ours that is not there.
const MISSING: &[u16] = &[1054, 1146];

/// A row of this key is there.
const DUPLICATE: u16 = 1062;

/// Another transaction came first: the whole transition may be run again.
const PASSING: &[u16] = &[1020, DUPLICATE, 1205, 1206, 1213, 1614, 3101];

/// Those of them that came after a long wait.
const WAITED: &[u16] = &[1205];

/// Numbers that concern the whole server: no step is at fault that meets one of them.
const SERVER_WIDE: &[u16] = &[3, 20, 1021, 1030, 1040, 1041, 1053, 1114, 1290, 1836, 1927];

/// As the contract spells it.
pub(crate) fn translate(error: sqlx::Error) -> BackendError {
    match &error {
        sqlx::Error::PoolClosed => BackendError::Closed,
        sqlx::Error::Io(said) if said.kind() == io::ErrorKind::TimedOut => {
            BackendError::no_answer(said.to_string())
        }
        // They are all in use, or a new one waits for the server.
        sqlx::Error::PoolTimedOut => {
            BackendError::no_answer("getting a connection took too long".to_owned())
        }
        sqlx::Error::Database(database)
            if MISSING.contains(&number(&error)) && database.message().contains("pgflow_") =>
        {
            let text = format!("{}; call `migrate` first", database.message());
            BackendError::Schema(text)
        }
        _ => kind(&error)(SqlError::new(error)).into(),
    }
}

fn kind(error: &sqlx::Error) -> Kind {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed => {
            MySqlError::Lost
        }
        _ => meaning(number(error)),
    }
}

fn meaning(number: u16) -> Kind {
    let found = MEANINGS.iter().find(|(known, _)| *known == number);
    found.map_or(MySqlError::Other, |(_, kind)| *kind)
}

/// The server's number for what is wrong; 0 if it is not the server that says so.
pub(crate) fn number(error: &sqlx::Error) -> u16 {
    let database = error.as_database_error();
    let ours = database.and_then(|error| error.try_downcast_ref::<MySqlDatabaseError>());
    ours.map_or(0, MySqlDatabaseError::number)
}

/// What the server says.
pub(crate) fn text(error: &sqlx::Error) -> String {
    error.as_database_error().map_or_else(|| error.to_string(), |error| error.message().to_owned())
}

/// Whether the whole transition should simply be run again.
pub(crate) fn is_passing(error: &sqlx::Error) -> bool {
    PASSING.contains(&number(error))
}

/// Whether it waited for a lock in vain.
pub(crate) fn has_waited(error: &sqlx::Error) -> bool {
    WAITED.contains(&number(error))
}

/// An error of a statement that records a step in its own transaction. What another transaction has locked is not the step's fault; a
/// row that is there may be one that the step wrote.
pub(crate) fn not_recorded(error: sqlx::Error) -> Error {
    let is_of_others = is_passing(&error) && number(&error) != DUPLICATE;
    if is_of_others { error.into() } else { not_committed(error) }
}

/// Whether a row was there already.
pub(crate) fn is_duplicate(error: &BackendError) -> bool {
    let BackendError::Unavailable(source) = error else { return false };
    let said = source.downcast_ref::<MySqlError>();
    matches!(said, Some(MySqlError::Busy(said)) if number(said.sqlx()) == DUPLICATE)
}

/// An error of a step's commit: what is checked then is what the step did, unless the server is in trouble.
pub(crate) fn not_committed(error: sqlx::Error) -> Error {
    let is_lost =
        matches!(kind(&error)(SqlError::new(sqlx::Error::PoolClosed)), MySqlError::Lost(_));
    if error.as_database_error().is_none() || is_lost || is_server_wide(&error) {
        return error.into();
    }
    Error::Backend(BackendError::NotCommitted(Box::new(SqlError::new(error))))
}

/// Whether the whole server can't do what it should, whatever it is asked for.
pub fn is_server_wide(error: &sqlx::Error) -> bool {
    SERVER_WIDE.contains(&number(error))
}

/// No answer in time; the connection is of no use any more.
pub(crate) fn timed_out(doing: &str, after: Duration) -> sqlx::Error {
    let text = format!("{doing} took longer than {} seconds", after.as_secs_f32());
    sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backend(number: u16) -> BackendError {
        meaning(number)(SqlError::new(sqlx::Error::RowNotFound)).into()
    }

    #[test]
    fn numbers_say_what_may_help() {
        for number in [1053, 1158, 1927] {
            assert!(matches!(backend(number), BackendError::Unreachable(_)), "{number}");
        }
        for number in [1021, 1030, 1040, 1114, 1205, 1213, 1290, 1836, 1969, 3024, 3101] {
            assert!(matches!(backend(number), BackendError::Unavailable(_)), "{number}");
        }
        for number in [1366, 1406] {
            assert!(matches!(backend(number), BackendError::Unstorable(_)), "{number}");
        }
        // Nor may settings of the server fail a result for good: they can be changed.
        for number in [0, 1044, 1045, 1049, 1064, 1142, 1153, 1260, 1301] {
            assert!(matches!(backend(number), BackendError::Refused(_)), "{number}");
        }
    }

    #[test]
    fn no_answer_in_time_is_known_as_such() {
        let error = translate(timed_out("a statement", Duration::from_secs(30)));
        assert!(error.is_no_answer(), "{error}");
    }

    #[test]
    fn the_table_is_in_order_and_holds_nothing_twice() {
        assert!(MEANINGS.is_sorted_by(|a, b| a.0 < b.0));
        for number in PASSING.iter().chain(SERVER_WIDE) {
            assert!(MEANINGS.iter().any(|(known, _)| known == number), "{number}");
        }
    }
}
