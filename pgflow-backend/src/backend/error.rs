//! What can go wrong between the engine and a database.

use std::error::Error as StdError;

use pgflow_machine::job::JobProblem;
use pgflow_machine::permit::PermitProblem;
use pgflow_machine::{CompiledFor, PayloadError};

/// Why a call of a backend has no outcome.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum BackendError {
    /// The database could not be reached, or the connection broke: the call may have taken effect. Calling
    /// again is safe.
    #[error("the database cannot be reached")]
    Unreachable(#[source] Box<dyn StdError + Send + Sync>),
    /// The database is there and refuses to work for now: it is read-only, out of space or connections, or
    /// locked.
    #[error("the database refuses to work at the moment")]
    Unavailable(#[source] Box<dyn StdError + Send + Sync>),
    /// The database refused the call, for a reason that is neither known to pass nor in what was to be stored: a missing
    /// right, a failed login, a bug. Whoever has nothing to lose gives up; a worker keeps its results and asks again.
    #[error("the database refused")]
    Refused(#[source] Box<dyn StdError + Send + Sync>),
    /// What was to be stored is what the database refuses, and it would refuse it again.
    #[error("the database cannot store this")]
    Unstorable(#[source] Box<dyn StdError + Send + Sync>),
    /// This program has closed its connections: [`Backend::close`](super::Backend::close).
    #[error("the database was closed by this program")]
    Closed,
    /// There is no such flow.
    #[error("there is no flow `{flow}` in the database; has its migration been applied?")]
    UnknownFlow {
        /// Its slug.
        flow: String,
    },
    /// There is such a flow, and no version of it that the program can start: it would give or expect other data.
    #[error(
        "flow `{flow}` has no version in the database that a program for version {version} can start; has its \
         migration been applied?"
    )]
    UnknownVersion {
        /// Its name.
        flow: String,
        /// The version that the program was compiled for.
        version: u32,
    },
    /// A payload can't be stored.
    #[error("cannot store {what}: {source}")]
    Payload {
        /// What it is.
        what: String,
        /// Why.
        source: PayloadError,
    },
    /// A flow that maps over the run's input got something else.
    #[error("flow `{flow}` maps over the run's input, which must be an array and is {found}")]
    NotAnArray {
        /// Its slug.
        flow: String,
        /// What it got.
        found: &'static str,
    },
    /// The id of a run of another flow.
    #[error("run {run} exists and is of flow `{flow}`")]
    OtherFlow {
        /// The run.
        run: pgflow_machine::RunId,
        /// The flow it is of.
        flow: String,
    },
    /// There is no transaction that a run could start in.
    #[error(
        "no transaction is open on this connection\nhelp: begin one with sqlx, `connection.begin()`; it does not know of \
         those that a statement began"
    )]
    NoTransaction,
    /// The schema is not one that this library can work with.
    #[error("the schema of the database does not fit this library: {0}")]
    Schema(String),
    /// A step ended the transaction that its completion was to be recorded in.
    #[error(
        "the step ended its transaction: its completion can only be recorded in the one that was begun for it"
    )]
    TransactionEnded,
    /// What a step did in its transaction can't be committed: a constraint or trigger that is checked at the end, another
    /// transaction that came first, or a statement that failed before.
    #[error("the step's transaction cannot be committed")]
    NotCommitted(#[source] Box<dyn StdError + Send + Sync>),
    /// A claim or heartbeat of jobs makes no sense.
    #[error(transparent)]
    Job(#[from] JobProblem),
    /// A claim, rate or resource of a pipeline makes no sense.
    #[error(transparent)]
    Permit(#[from] PermitProblem),
    /// So many early signals are kept for a hook that this one is not.
    #[error(
        "{limit} signals are kept for this hook already, and nobody has waited for them yet\nhelp: send it again when somebody \
         does, or let signals be kept for a shorter time"
    )]
    TooManySignals {
        /// How many are kept.
        limit: usize,
    },
    /// The backend can't do this.
    #[error("{backend} cannot {what}")]
    Unsupported {
        /// The backend.
        backend: &'static str,
        /// What it can't do.
        what: &'static str,
    },
}

pgflow_model::debug_with_causes!(BackendError);

impl BackendError {
    /// Whether the same call may succeed later.
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Unavailable(_))
    }

    /// No version of a flow fits a program.
    pub fn unknown_version(flow: &str, program: &CompiledFor) -> Self {
        Self::UnknownVersion { flow: flow.to_owned(), version: program.own().unwrap_or_default() }
    }

    /// Whether it lies in what was to be stored: nothing else proves that another try is in vain.
    pub fn is_about_payload(&self) -> bool {
        matches!(self, Self::Payload { .. } | Self::Unstorable(_))
    }

    /// Nothing came in time: whoever asks next may wait as long.
    pub fn no_answer(text: String) -> Self {
        Self::Unreachable(Box::new(NoAnswer(text)))
    }

    /// Whether this is such an error.
    pub fn is_no_answer(&self) -> bool {
        matches!(self, Self::Unreachable(source) if source.is::<NoAnswer>())
    }

    /// The same for another call, which went along with the one that failed.
    #[must_use]
    pub fn for_others(&self) -> Self {
        match self {
            Self::Unreachable(source) if self.is_no_answer() => {
                Self::Unreachable(Box::new(NoAnswer(source.to_string())))
            }
            Self::Unreachable(source) => Self::Unreachable(source.to_string().into()),
            Self::Unavailable(source) => Self::Unavailable(source.to_string().into()),
            Self::Closed => Self::Closed,
            other => Self::Refused(other.to_string().into()),
        }
    }
}

/// Nothing came in time.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct NoAnswer(String);
