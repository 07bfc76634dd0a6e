//! What can go wrong.

use std::io;
use std::path::PathBuf;

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Build(#[from] pgflow_build::Error),
    #[error("cannot read {}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("`{revision}` is neither a file nor a git revision with a pgflow.lock: {why}")]
    Revision { revision: String, why: String },
    #[error("in `{revision}`")]
    Lock {
        revision: String,
        #[source]
        source: pgflow_model::LockError,
    },
    #[error("there is no flow `{0}` in the source")]
    NoFlow(String),
    #[error("there is no Cargo.toml in {} or above", .0.display())]
    NoCrate(PathBuf),
    #[error(
        "no crate of the workspace in {} has migrations of flows\nhelp: one that does calls `pgflow_build` in its build.rs",
        .0.display()
    )]
    NoFlows(PathBuf),
    #[error("there is no crate `{0}` in this workspace")]
    NoPackage(String),
    #[error("there are several crates here\nhelp: choose one with `--package`")]
    ManyCrates,
    #[error("cargo cannot read the workspace: {0}")]
    Workspace(String),
    #[error("cannot understand `cargo metadata`")]
    Metadata(#[source] serde_json::Error),
    #[error("cannot print")]
    Output(#[source] io::Error),
    #[error("cannot run `{program}`")]
    Run {
        program: &'static str,
        #[source]
        source: io::Error,
    },
}

impl Error {
    /// Whether nobody reads what is printed any more, which is nothing to tell.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output(source) if source.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// An error and everything it comes from, on one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        if !text.ends_with(&error.to_string()) {
            text = format!("{text}: {error}");
        }
        source = error.source();
    }
    text
}
