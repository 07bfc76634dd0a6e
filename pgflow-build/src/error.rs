//! What can go wrong apart from the flows.

use std::io;
use std::path::{Path, PathBuf};

use crate::problem::Problem;
use crate::style::UnknownStyle;

/// Why migrations could not be written or compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// To what.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// The lock file is damaged.
    #[error(transparent)]
    Lock(#[from] pgflow_model::LockError),
    /// `pgflow.schemas.json` is damaged.
    #[error(transparent)]
    Schemas(#[from] pgflow_model::InvalidSchemas),
    /// The lock file names a style that there is not.
    #[error("pgflow.lock: {0}")]
    Style(#[from] UnknownStyle),
    /// There is no `src/lib.rs`, `src/main.rs` or anything else to read.
    #[error("there is no crate in {}", .0.display())]
    NoCrate(PathBuf),
    /// The flows cannot be migrated as they are.
    #[error("{}", listed(.0))]
    Problems(Vec<Problem>),
    /// A flow that is to be dropped or retired is not known.
    #[error("there is no flow `{0}` in `pgflow.lock`")]
    UnknownFlow(String),
    /// A flow that is to be dropped or retired is still in the source.
    #[error("flow `{0}` is still in the source\nhelp: remove its module first")]
    StillThere(String),
    /// The migrations that are to be kept do not go together.
    #[error("{0}")]
    History(String),
    /// The newest migration cannot be taken back: others may have it.
    #[error("migration `{name}` is {why}\nhelp: {help}")]
    Permanent {
        /// The file.
        name: String,
        /// Who has it.
        why: &'static str,
        /// What to do instead.
        help: &'static str,
    },
    /// There is no migration of a flow.
    #[error("there is no migration of a flow to take back")]
    NothingToUndo,
    /// A migration was changed after it was written.
    #[error("migration `{name}` was changed by hand: {why}")]
    Foreign {
        /// The file.
        name: String,
        /// What is wrong with it.
        why: pgflow_model::InvalidOperation,
    },
    /// A permanent migration of a flow is in the way of the core, which has to come first.
    #[cfg(feature = "core")]
    #[error(
        "migration `{name}` needs the core, whose files cannot come before it\n\
         help: give it the number {needed} or a later one if no tool has applied it yet (`pgflow.lock` follows), and try again; a program that calls `pgflow::postgres::migrate` needs no files of the core"
    )]
    CoreTooLate {
        /// The first file about a flow.
        name: String,
        /// The lowest number that it can have.
        needed: u64,
    },
    /// The core's files could not be written.
    #[cfg(feature = "core")]
    #[error("cannot write the core's migrations")]
    Core(#[from] pgflow_runtime::postgres::EmitError),
}

fn listed(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Says what was being done to which file.
pub(crate) trait Doing<T> {
    fn doing(self, doing: &'static str, path: &Path) -> Result<T, Error>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, doing: &'static str, path: &Path) -> Result<T, Error> {
        self.map_err(|source| Error::Io { doing, path: path.to_owned(), source })
    }
}

impl Error {
    /// Whether it came from a place that cannot be written to.
    pub(crate) fn is_read_only(&self) -> bool {
        let kinds = [io::ErrorKind::PermissionDenied, io::ErrorKind::ReadOnlyFilesystem];
        matches!(self, Self::Io { source, .. } if kinds.contains(&source.kind()))
    }
}
