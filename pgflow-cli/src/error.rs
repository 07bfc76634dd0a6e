//! What can go wrong.

use std::io;
use std::path::PathBuf;

use pgflow_runtime::backend::BackendError;
use pgflow_runtime::client::ClientError;
use pgflow_runtime::db::ConnectError;

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
    #[error(transparent)]
    Schemas(#[from] pgflow_model::InvalidSchemas),
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
    #[error(transparent)]
    Connect(#[from] pgflow_runtime::db::ConnectError),
    #[error("there is no file {}\nhelp: `pgflow install` makes one", .0.display())]
    NoFile(PathBuf),
    #[error("{what}\nhelp: {fix}")]
    Unfit { what: String, fix: String },
    #[error(transparent)]
    Client(#[from] pgflow_runtime::ClientError),
    #[error("{0}")]
    Usage(String),
    #[error("{0}")]
    Refused(String),
    #[error("cannot write {}", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[cfg(feature = "web")]
    #[error(transparent)]
    Serve(#[from] pgflow_web::ServeError),
    #[error("cannot start the runtime")]
    Runtime(#[source] io::Error),
    #[error("cannot use the terminal")]
    Terminal(#[source] io::Error),
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
    /// What the program ends with: 1 if something is wrong with what it looked at, 2 if it was asked for nonsense, 3 if the
    /// database cannot be used.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Connect(ConnectError::Url(_))
            | Self::Usage(_)
            | Self::Client(ClientError::JobId(_)) => 2,
            Self::Connect(_) | Self::NoFile(_) | Self::Unfit { .. } => 3,
            Self::Client(ClientError::Backend(error)) => match error {
                BackendError::Job(_) | BackendError::Permit(_) => 2,
                BackendError::UnknownFlow { .. }
                | BackendError::UnknownVersion { .. }
                | BackendError::TooManySignals { .. }
                | BackendError::Unstorable(_)
                | BackendError::NotAnArray { .. }
                | BackendError::OtherFlow { .. }
                | BackendError::Payload { .. } => 1,
                _ => 3,
            },
            _ => 1,
        }
    }

    /// Whether the database would have done it for another login, most likely.
    pub(crate) fn is_refused(&self) -> bool {
        matches!(self, Self::Client(ClientError::Backend(BackendError::Refused(_))))
    }

    /// Whether the source is not here, or has no flow of that name.
    pub(crate) fn is_no_source(&self) -> bool {
        matches!(self, Self::NoFlow(_) | Self::NoCrate(_) | Self::NoFlows(_))
    }

    /// Whether nobody reads what is printed any more, which is nothing to tell.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output(source) if source.kind() == io::ErrorKind::BrokenPipe)
    }
}
