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
    #[error("`pgflow.lock` of `{revision}`: {source}")]
    Lock {
        revision: String,
        #[source]
        source: pgflow_model::LockError,
    },
    #[error("there is no flow `{0}` in the source")]
    NoFlow(String),
    #[error("cannot run `{program}`")]
    Run {
        program: &'static str,
        #[source]
        source: io::Error,
    },
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
