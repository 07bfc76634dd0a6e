//! The core as plain files, for people who migrate with another tool.

mod psql;
mod refuse;
mod sequence;
mod unit;

use std::path::{Path, PathBuf};

use super::core::Core;
use super::error::EmitError;

/// Which tool the files are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// `0001_pgflow_schema.sql` …, for `sqlx migrate`.
    Sqlx,
    /// `V1__pgflow_schema.sql` …, for refinery.
    Refinery,
    /// `pgflow.sql`, for psql; can be run again to bring a database up to date.
    Psql,
}

impl Core {
    /// Writes what `dir` does not have yet, numbered after what is there, and returns the new
    /// files. Existing files are never changed, so the directory may hold one's own migrations;
    /// only `pgflow.sql` is written anew.
    ///
    /// ```
    /// use pgflow_postgres::{Core, Format};
    /// # let dir = std::env::temp_dir().join(format!("pgflow-emit-{}", std::process::id()));
    /// let first = Core::embedded().emit(Format::Sqlx, &dir)?;
    /// assert!(first[0].ends_with("0001_pgflow_schema.sql"));
    /// let second = Core::embedded().emit(Format::Sqlx, &dir)?;
    /// assert!(second.is_empty());
    /// # std::fs::remove_dir_all(&dir).unwrap();
    /// # Ok::<(), pgflow_postgres::EmitError>(())
    /// ```
    pub fn emit(&self, format: Format, dir: &Path) -> Result<Vec<PathBuf>, EmitError> {
        self.emit_below(format, dir, None)
    }

    /// The same, with numbers below that one, which is the number of a file that needs the core. Fails
    /// if there are not enough of them.
    ///
    /// ```
    /// use pgflow_postgres::{Core, EmitError, Format};
    /// # let dir = std::env::temp_dir().join(format!("pgflow-emit-before-{}", std::process::id()));
    /// let refused = Core::embedded().emit_before(Format::Sqlx, &dir, 2).unwrap_err();
    /// assert!(matches!(refused, EmitError::NoRoom { .. }));
    /// let written = Core::embedded().emit_before(Format::Sqlx, &dir, 1000)?;
    /// assert!(written[0].ends_with("0001_pgflow_schema.sql"));
    /// # std::fs::remove_dir_all(&dir).unwrap();
    /// # Ok::<(), EmitError>(())
    /// ```
    pub fn emit_before(
        &self,
        format: Format,
        dir: &Path,
        number: u64,
    ) -> Result<Vec<PathBuf>, EmitError> {
        self.emit_below(format, dir, Some(number))
    }

    fn emit_below(
        &self,
        format: Format,
        dir: &Path,
        limit: Option<u64>,
    ) -> Result<Vec<PathBuf>, EmitError> {
        std::fs::create_dir_all(dir).map_err(|source| io(dir, source))?;
        match format {
            Format::Sqlx => sequence::emit(self, dir, &sequence::SQLX, limit),
            Format::Refinery => sequence::emit(self, dir, &sequence::REFINERY, limit),
            Format::Psql => psql::emit(self, dir),
        }
    }
}

fn write(path: PathBuf, text: &str) -> Result<PathBuf, EmitError> {
    std::fs::write(&path, text).map_err(|source| io(&path, source))?;
    Ok(path)
}

fn io(path: &Path, source: std::io::Error) -> EmitError {
    EmitError::Io { path: path.into(), source }
}

/// How pgmq gets there, since a plain file cannot install it.
const HEADER: &str = "\
-- Written by pgflow; do not edit.
--
-- pgmq 1.5 or later has to be in the database first, in one of these ways:
--   * `create extension pgmq;` where the server has that extension
--   * `cargo run --example migrate -- --database URL --pgmq-only` in the pgflow repository
--   * `pgflow_postgres::install_pgmq(&pool)` from a program of yours
";
