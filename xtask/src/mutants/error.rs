//! Why a mutation check is not a pass.

use std::path::{Path, PathBuf};

/// What ends `cargo xtask mutants`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("xtask: {path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },

    #[error("xtask: mutation `{name}` is stale: {file} has its text {found} times, not once")]
    Stale { name: &'static str, file: &'static str, found: usize },

    #[error("xtask: there is no mutation `{0}`; see --list")]
    Unknown(String),

    #[error("xtask: cannot build the tests")]
    Build,

    #[error("xtask: no test matches `{filter}`, which mutation `{name}` names")]
    NoTest { name: &'static str, filter: &'static str },

    #[error("xtask: mutation `{name}` is not valid SQL or Rust, which proves nothing:\n{output}")]
    Invalid { name: &'static str, output: String },

    #[error("xtask: without a mutation there are failures: {0}")]
    Baseline(String),

    #[error("xtask: {} of {of} mutants survived: {}", names.len(), names.join(", "))]
    Survivors { names: Vec<&'static str>, of: usize },
}

impl Error {
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.into(), source }
    }
}
