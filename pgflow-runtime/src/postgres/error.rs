//! What an error of the database means for the engine.

use std::io;
use std::time::Duration;

use crate::backend::{BackendError, Said};

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
    /// It did not and never will.
    Refused,
}

/// As the contract spells it.
pub(super) fn translate(error: sqlx::Error) -> BackendError {
    match kind(&error) {
        Kind::Closed => BackendError::Closed,
        Kind::Unreachable if is_timeout(&error) => BackendError::no_answer(Said(error).to_string()),
        Kind::Unreachable => BackendError::Unreachable(Box::new(Said(error))),
        Kind::Unavailable => BackendError::Unavailable(Box::new(Said(error))),
        Kind::Schema => BackendError::Schema(format!("{}; run `migrate` first", text(&error))),
        Kind::Refused => BackendError::Refused(Box::new(Said(error))),
    }
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
    match code {
        "25006" | "40001" | "40P01" | "55P03" | "57014" => Kind::Unavailable,
        "3F000" | "42883" | "42P01" if text.contains("pgflow") => Kind::Schema,
        _ if code.starts_with("08") || code.starts_with("57P0") => Kind::Unreachable,
        // Out of connections, memory or disk; the server cannot read or write its files.
        _ if code.starts_with("53") || code.starts_with("58") => Kind::Unavailable,
        _ => Kind::Refused,
    }
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
        for code in ["23505", "42501", "28P01", "22P05", "P0001"] {
            assert_eq!(kind(code), Kind::Refused, "{code}");
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
