//! What can go wrong, and what was being done at the time.

use std::path::PathBuf;

/// Everything that ends a benchmark early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    #[error("cannot start a server")]
    Server(#[from] pgflow_test_support::Error),
    #[error("cannot install the core")]
    Migrate(#[from] pgflow_runtime::postgres::MigrateError),
    #[error("cannot start the runtime")]
    Runtime(#[source] std::io::Error),
    #[error("cannot connect to `{target}`")]
    Connect {
        target: String,
        #[source]
        source: sqlx::Error,
    },
    #[error("failed while {doing}")]
    Database {
        doing: String,
        #[source]
        source: sqlx::Error,
    },
    #[error("cannot read {path}")]
    Proc {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("cannot write {path}")]
    Write {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error(
        "{path} is there already\nhelp: the benchmark makes a file of its own and removes it; name one that does not exist"
    )]
    FileExists { path: PathBuf },
    #[error("`--in-place` is for Postgres")]
    InPlace,
    #[error("cannot open the database")]
    Open(#[from] pgflow::ConnectError),
    #[error("the database refused")]
    Backend(#[from] pgflow::backend::BackendError),
    #[error("cannot register a flow")]
    Register(#[from] pgflow::client::RegisterFlowError),
    #[error("a call of the client failed")]
    Client(#[from] pgflow::ClientError),
    #[error("the worker stopped")]
    Worker(#[from] pgflow::WorkerError),
    #[error("the worker panicked")]
    Task(#[source] tokio::task::JoinError),
    #[error("no worker took a task that was there")]
    Late(#[source] tokio::time::error::Elapsed),
    #[error("cannot turn the results into JSON")]
    Json(#[from] serde_json::Error),
    #[error("no case is called `{name}`\nhelp: `--list` shows them all")]
    UnknownCase { name: String },
    #[error("`{target}` has no pgflow core: {missing} is missing")]
    NoCore { target: String, missing: &'static str },
    #[error("`{target}` has no claim_tasks and complete_tasks, so it cannot be driven in batches")]
    NoBatches { target: String },
    #[error("{target}: {case} left a wrong state: {problem}")]
    Unsound { target: String, case: String, problem: String },
}

pub(crate) type Result<T, E = BenchError> = std::result::Result<T, E>;

/// Says what a query was for when it fails.
pub(crate) trait Doing<T> {
    fn doing(self, what: impl Into<String>) -> Result<T>;
}

impl<T> Doing<T> for Result<T, sqlx::Error> {
    fn doing(self, what: impl Into<String>) -> Result<T> {
        self.map_err(|source| BenchError::Database { doing: what.into(), source })
    }
}
