//! What an error of the database means for the engine.

use std::io;
use std::time::Duration;

use pgflow_backend::backend::{BackendError, SqlError};

/// Why an error happened, as far as the engine has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// By ourselves.
    Closed,
    /// Nobody knows whether the call took effect.
    Unreachable,
    /// It did not, and may later.
    Unavailable,
    /// Our functions are not there.
    Schema,
    /// What was to be stored can't be.
    Payload,
    /// It did not take effect, and nobody knows what would help.
    Refused,
}

/// What codes mean that begin like this; the first line that fits counts. Of all others, such as failed logins, missing
/// rights, internal errors and whatever a later version adds, nobody can say that it lies in what was to be stored: they are
/// refusals, and results wait.
const MEANINGS: &[(&str, Kind)] = &[
    ("08", Kind::Unreachable),    // connection exceptions
    ("57P0", Kind::Unreachable),  // shut down, crashed, starting
    ("22003", Kind::Payload),     // a number out of range
    ("22021", Kind::Payload),     // a character that the encoding does not have
    ("2203", Kind::Payload),      // JSON that cannot be what is asked for
    ("22P02", Kind::Payload),     // a text that is no JSON
    ("22P05", Kind::Payload),     // a character that cannot be translated
    ("54000", Kind::Payload),     // larger than a limit
    ("54001", Kind::Payload),     // nested too deeply
    ("25006", Kind::Unavailable), // read-only
    ("40", Kind::Unavailable),    // lost against another transaction
    ("53", Kind::Unavailable),    // out of disk, memory or connections
    ("55P03", Kind::Unavailable), // a lock that somebody keeps
    ("57014", Kind::Unavailable), // cancelled
    ("58", Kind::Unavailable),    // the server cannot read or write its files
];

/// Codes that concern the whole server: no step is at fault that meets one of them.
const SERVER_WIDE: &[&str] = &["25006", "53100", "53300", "57P03", "58030"];

/// Codes that a statement inside of a step's transaction gives because of what the step did before.
const OF_THE_STEP: &[&str] = &["23", "25P", "2D", "40", "55P03", "57014", "P0"];

/// As the contract spells it.
pub(super) fn translate(error: sqlx::Error) -> BackendError {
    match kind(&error) {
        Kind::Closed => BackendError::Closed,
        Kind::Unreachable if is_timeout(&error) => {
            BackendError::no_answer(SqlError(error).to_string())
        }
        Kind::Unreachable => BackendError::Unreachable(Box::new(SqlError(error))),
        Kind::Unavailable => BackendError::Unavailable(Box::new(SqlError(error))),
        Kind::Schema => BackendError::Schema(format!("{}; run `migrate` first", text(&error))),
        Kind::Payload if is_of_all(&error) => {
            let all = format!("all outputs of the step together are too large: {}", text(&error));
            BackendError::Unstorable(all.into())
        }
        Kind::Payload => BackendError::Unstorable(Box::new(SqlError(error))),
        Kind::Refused => BackendError::Refused(Box::new(SqlError(error))),
    }
}

/// An error of the statement that records a step in its own transaction.
pub(super) fn not_recorded(error: sqlx::Error) -> BackendError {
    if has_code(&error, OF_THE_STEP) { not_committed(error) } else { of_step(error) }
}

/// An error of a step's commit: what is checked then is what the step did, unless the server is in trouble.
pub(super) fn not_committed(error: sqlx::Error) -> BackendError {
    if error.as_database_error().is_none() || is_server_wide(&error) {
        return of_step(error);
    }
    match kind(&error) {
        Kind::Unreachable => translate(error),
        _ => BackendError::NotCommitted(Box::new(SqlError(error))),
    }
}

/// A step can make its own transaction read-only: whether the server is, others can tell.
fn of_step(error: sqlx::Error) -> BackendError {
    if is_read_only(&error) {
        BackendError::Refused(Box::new(SqlError(error)))
    } else {
        translate(error)
    }
}

/// Whether nothing can be written in this transaction.
pub fn is_read_only(error: &sqlx::Error) -> bool {
    code(error).as_deref() == Some("25006")
}

/// Whether the whole server can't do what it should, whatever it is asked for.
pub fn is_server_wide(error: &sqlx::Error) -> bool {
    has_code(error, SERVER_WIDE)
}

fn has_code(error: &sqlx::Error, beginnings: &[&str]) -> bool {
    let code = code(error).unwrap_or_default();
    beginnings.iter().any(|beginning| code.starts_with(beginning))
}

/// No answer in time; the connection is of no use any more.
pub(super) fn timed_out(doing: &str, after: Duration) -> sqlx::Error {
    let text = format!("{doing} took longer than {} seconds", after.as_secs_f32());
    sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, text))
}

/// Whether it is one of those.
pub(super) fn is_timeout(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Io(error) if error.kind() == io::ErrorKind::TimedOut)
}

/// A row that is not what our functions return.
pub(super) fn unexpected(what: impl std::fmt::Display) -> BackendError {
    BackendError::Schema(format!("it returned {what}"))
}

/// The five characters that say what is wrong.
pub(super) fn code(error: &sqlx::Error) -> Option<String> {
    error.as_database_error()?.code().map(Into::into)
}

/// Whether somebody else had a lock for too long.
pub(super) fn is_locked(error: &sqlx::Error) -> bool {
    code(error).as_deref() == Some("55P03")
}

/// Whether this constraint was violated.
pub(super) fn is_about(error: &sqlx::Error, constraint: &str) -> bool {
    error.as_database_error().and_then(|error| error.constraint()) == Some(constraint)
}

/// Whether a limit of the server's own was met when the outputs of a step were put together: the one that came last has no
/// part in it.
fn is_of_all(error: &sqlx::Error) -> bool {
    text(error).starts_with("total size of jsonb")
}

/// Whether the connection can be used further.
pub(super) fn keeps_connection(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some()
        && kind(error) != Kind::Unreachable
        && !is_stale_statement(error)
}

/// Whether the whole call should simply be repeated: it lost against another transaction, or the
/// connection remembers a statement that is not valid any more.
pub(super) fn is_passing(error: &sqlx::Error) -> bool {
    is_stale_statement(error) || matches!(code(error).as_deref(), Some("40001" | "40P01"))
}

/// A function was replaced, or a pooler switched servers.
fn is_stale_statement(error: &sqlx::Error) -> bool {
    match code(error).as_deref() {
        Some("26000") => true,
        Some("0A000") => text(error).contains("cached plan"),
        _ => false,
    }
}

fn kind(error: &sqlx::Error) -> Kind {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed => {
            Kind::Unreachable
        }
        sqlx::Error::PoolClosed => Kind::Closed,
        sqlx::Error::PoolTimedOut => Kind::Unavailable,
        sqlx::Error::Database(_) => kind_of(code(error).as_deref().unwrap_or(""), &text(error)),
        _ => Kind::Refused,
    }
}

fn kind_of(code: &str, text: &str) -> Kind {
    if matches!(code, "3F000" | "42883" | "42P01") && text.contains("pgflow") {
        return Kind::Schema;
    }
    let fits = |(beginning, _): &&(&str, Kind)| code.starts_with(beginning);
    MEANINGS.iter().find(fits).map_or(Kind::Refused, |(_, kind)| *kind)
}

fn text(error: &sqlx::Error) -> String {
    error.as_database_error().map_or_else(|| error.to_string(), |error| error.message().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_say_what_may_help() {
        let kind = |code| kind_of(code, "function pgflow.x() does not exist");
        for code in ["08006", "57P01", "57P03"] {
            assert_eq!(kind(code), Kind::Unreachable, "{code}");
        }
        for code in ["53300", "53100", "25006", "55P03", "40001", "40P01", "57014", "58030"] {
            assert_eq!(kind(code), Kind::Unavailable, "{code}");
        }
        for code in ["3F000", "42883", "42P01"] {
            assert_eq!(kind(code), Kind::Schema, "{code}");
            assert_eq!(
                kind_of(code, "relation \"orders\" does not exist"),
                Kind::Refused,
                "{code}"
            );
        }
        for code in ["22P05", "22003", "54000", "54001"] {
            assert_eq!(kind(code), Kind::Payload, "{code}");
        }
        for code in ["23505", "42501", "28P01", "28000", "3D000", "XX000", "P0001", "22023", ""] {
            assert_eq!(kind(code), Kind::Refused, "{code}");
        }
    }

    /// Of two lines that fit a code the first counts, so a shorter beginning must not come before a longer one.
    #[test]
    fn every_line_of_the_table_counts() {
        for (at, (beginning, kind)) in MEANINGS.iter().enumerate() {
            assert_eq!(kind_of(beginning, ""), *kind, "{beginning}");
            let hidden = MEANINGS[..at].iter().any(|(before, _)| beginning.starts_with(before));
            assert!(!hidden, "{beginning} is never looked at");
        }
    }

    #[test]
    fn no_answer_means_that_nobody_knows() {
        let error = timed_out("a claim", Duration::from_secs(20));
        assert!(!keeps_connection(&error));
        let error = translate(error);
        assert!(matches!(error, BackendError::Unreachable(_)), "{error:?}");
    }
}
