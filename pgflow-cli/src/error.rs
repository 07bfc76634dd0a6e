//! What can go wrong.

use std::io;
use std::path::PathBuf;

use pgflow_runtime::SignalProblem;
use pgflow_runtime::backend::BackendError;
use pgflow_runtime::client::ClientError;
use pgflow_runtime::db::ConnectError;
use pgflow_runtime::job::JobProblem;
use pgflow_runtime::pipeline::PermitProblem;
use pgflow_runtime::schedules::ScheduleProblem;

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
    #[error("interrupted")]
    Interrupted,
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
    /// database cannot be used, 130 if somebody wanted it to end.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Connect(ConnectError::Url(_)) | Self::Usage(_) => 2,
            Self::Connect(_) | Self::NoFile(_) | Self::Unfit { .. } => 3,
            Self::Client(error) => of_client(error),
            #[cfg(feature = "web")]
            Self::Serve(pgflow_web::ServeError::ActionsForAnybody { .. }) => 2,
            Self::Interrupted => 130,
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

/// What means nothing to any database is misuse; what this one has, or has not, is what it looked at.
fn of_client(error: &ClientError) -> u8 {
    match error {
        ClientError::JobId(_)
        | ClientError::StreamName(_)
        | ClientError::HookToken(_)
        | ClientError::Signal(SignalProblem::ResumeId(_))
        | ClientError::Timetable(_)
        | ClientError::Policy(_)
        | ClientError::Schedule {
            source: ScheduleProblem::Name(_) | ScheduleProblem::Policy(_),
            ..
        } => 2,
        ClientError::Job { source, .. } => of_job(source),
        ClientError::Backend(error) => of_backend(error),
        _ => 1,
    }
}

fn of_backend(error: &BackendError) -> u8 {
    match error {
        BackendError::Job(problem) | BackendError::Permit(PermitProblem::Job(problem)) => {
            of_job(problem)
        }
        BackendError::Permit(PermitProblem::UnknownRate(_))
        | BackendError::UnknownFlow { .. }
        | BackendError::UnknownVersion { .. }
        | BackendError::TooManySignals { .. }
        | BackendError::Unstorable(_)
        | BackendError::NotAnArray { .. }
        | BackendError::OtherFlow { .. }
        | BackendError::Payload { .. } => 1,
        BackendError::Permit(_) => 2,
        _ => 3,
    }
}

fn of_job(problem: &JobProblem) -> u8 {
    match problem {
        JobProblem::Payload { .. }
        | JobProblem::UnknownDependency(_)
        | JobProblem::Ring(_)
        | JobProblem::UnknownResource(_)
        | JobProblem::TooManyUnits { .. } => 1,
        _ => 2,
    }
}
