//! Why a core cannot be installed or written down.

use std::fmt;
use std::path::PathBuf;

/// Why the database has no up-to-date core now. Nothing was changed when this is returned.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum MigrateError {
    /// The core there belongs to a later version of this library.
    #[error(
        "the pgflow schema of this database is newer ({found}) than this library knows ({known})\n\
         help: update the pgflow crate of this program"
    )]
    Newer {
        /// What the database has.
        found: String,
        /// What this library knows.
        known: String,
    },
    /// The core there is not the one that was installed.
    #[error(
        "the pgflow schema was changed by hand: {}\n\
         help: put the original back; `Core::embedded().emit(Format::Psql, DIR)` writes it to a file",
        list(problems)
    )]
    Tampered {
        /// All that differs.
        problems: Vec<Problem>,
    },
    /// There is a schema of that name, and it is somebody else's.
    #[error(
        "this database has a schema `pgflow` that this library did not make (it holds {holds})\n\
         help: rename or drop that schema, or use another database"
    )]
    Foreign {
        /// Something that is in it.
        holds: String,
    },
    /// Another role owns what we would install into, or may change it: it could have its own code run
    /// with the rights of the installing role.
    #[error(
        "pgflow would give another role the rights of the installing one: {what}\nhelp: {way_out}"
    )]
    Stranger {
        /// `schema pgmq belongs to payer`.
        what: String,
        /// A statement that puts it right.
        way_out: String,
    },
    /// Postgres 14 is the oldest we know to work.
    #[error("Postgres {found} is too old\nhelp: pgflow needs Postgres 14 or later")]
    ServerTooOld {
        /// Its version.
        found: String,
    },
    /// The database has pgmq, but an old one.
    #[error("pgmq {found} is too old, pgflow needs 1.5 or later\nhelp: {help}")]
    PgmqTooOld {
        /// Its version.
        found: String,
        /// How to get a newer one.
        help: &'static str,
    },
    /// The database remembers pgmq, but does not have it.
    #[error(
        "pgmq {recorded} was installed here, but its functions are gone\n\
         help: `drop schema pgmq` if nothing in it is needed, then migrate again"
    )]
    PgmqBroken {
        /// The version that was installed.
        recorded: String,
    },
    /// Installing pgmq failed.
    #[error("cannot install pgmq")]
    Pgmq(#[source] ::pgmq::PgmqError),
    /// A file of the core failed.
    #[error("cannot apply `{file}`")]
    Apply {
        /// Which one.
        file: String,
        /// Why.
        #[source]
        source: sqlx::Error,
    },
    /// Talking to the database failed.
    #[error("cannot {doing}")]
    Database {
        /// What was being done.
        doing: &'static str,
        /// Why it failed.
        #[source]
        source: sqlx::Error,
    },
    /// A directory of SQL files cannot be read.
    #[error("cannot read SQL files from {}", dir.display())]
    Read {
        /// Which directory.
        dir: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A directory has no numbered SQL files.
    #[error("there are no numbered SQL files in {}", dir.display())]
    NothingThere {
        /// Which directory.
        dir: PathBuf,
    },
}

pgflow_model::debug_with_causes!(MigrateError);

/// One thing that is not as it was installed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// A numbered file was applied with other contents than the library's.
    File(String),
    /// A numbered file was applied that the library does not have.
    UnknownFile(String),
    /// A function has another definition.
    Function(String),
    /// A function is gone.
    MissingFunction(String),
    /// There is a function that nobody installed.
    AddedFunction(String),
    /// A column has another type, or a constraint is of another kind.
    Object {
        /// `column output of pgflow.step_tasks`.
        object: String,
        /// `jsonb`.
        installed: String,
        /// `text not null`.
        found: String,
    },
    /// A table, view, type, column, constraint, index or trigger is gone.
    MissingObject(String),
    /// There is a table, view, type, column, constraint or trigger that nobody installed.
    AddedObject(String),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(name) => write!(f, "`{name}` was applied with other contents"),
            Self::UnknownFile(name) => write!(f, "`{name}` was applied but is not ours"),
            Self::Function(name) => write!(f, "function `{name}` is not the one installed"),
            Self::MissingFunction(name) => write!(f, "function `{name}` is gone"),
            Self::AddedFunction(name) => write!(f, "function `{name}` was added"),
            Self::Object { object, installed, found } => {
                write!(f, "{object} is `{found}` instead of `{installed}`")
            }
            Self::MissingObject(object) => write!(f, "{object} is missing"),
            Self::AddedObject(object) => write!(f, "unexpected {object}"),
        }
    }
}

fn list(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Why the core could not be written as files.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum EmitError {
    /// A file or directory failed.
    #[error("cannot write SQL files to {}", path.display())]
    Io {
        /// Which one.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A numbered file there was written with other contents.
    #[error(
        "{} holds `{unit}` with other contents than this library's\n\
         help: that file was edited, or comes from a newer version; restore it",
        path.display()
    )]
    Changed {
        /// The file.
        path: PathBuf,
        /// The part of the core that it holds.
        unit: String,
    },
    /// There are not enough numbers before a file that needs the core.
    #[error("the first number after the core's files would be {needed}")]
    NoRoom {
        /// The lowest number that such a file can have.
        needed: u64,
    },
}

pgflow_model::debug_with_causes!(EmitError);

/// Says what was being done when the database failed.
pub(super) trait Doing<T> {
    fn doing(self, doing: &'static str) -> Result<T, MigrateError>;
}

impl<T> Doing<T> for Result<T, sqlx::Error> {
    fn doing(self, doing: &'static str) -> Result<T, MigrateError> {
        self.map_err(|source| MigrateError::Database { doing, source })
    }
}
