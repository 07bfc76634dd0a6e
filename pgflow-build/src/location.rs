//! A place in the user's source.

use std::fmt;
use std::path::{Path, PathBuf};

use proc_macro2::Span;

/// A place in the user's source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceLocation {
    /// The file, below the crate if it is there.
    pub file: PathBuf,
    /// From 1.
    pub line: usize,
    /// From 1.
    pub column: usize,
}

impl SourceLocation {
    pub(crate) fn of(file: &Path, span: Span) -> Self {
        let start = span.start();
        Self { file: file.to_owned(), line: start.line, column: start.column + 1 }
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file.display(), self.line, self.column)
    }
}
