//! Why a command is refused.

use super::{CompiledFor, NotLoaded};
use crate::{PayloadError, RunId};

/// Why a command is refused as a whole. Nothing is written then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no such flow.
    #[error("there is no flow `{flow}`")]
    UnknownFlow {
        /// Its name.
        flow: String,
    },
    /// No version of a flow fits the program that wants to start it.
    #[error("flow `{flow}` has no version that a program for version {version} can start")]
    UnknownVersion {
        /// Its name.
        flow: String,
        /// The version that the program was compiled for.
        version: u32,
    },
    /// The id of a run of another flow.
    #[error("run {run} exists and is of flow `{flow}`")]
    OtherFlow {
        /// The run.
        run: RunId,
        /// The flow it is of.
        flow: String,
    },
    /// A flow that maps over the run's input got something else.
    #[error("flow `{flow}` maps over the run's input, which must be an array and is {found}")]
    NotAnArray {
        /// Its name.
        flow: String,
        /// What it got.
        found: &'static str,
    },
    /// A payload can't be stored.
    #[error("cannot store {what}: {source}")]
    Payload {
        /// What it is.
        what: String,
        /// Why.
        source: PayloadError,
    },
    /// A row or payload that the command had asked for is missing: a mistake of the store.
    #[error(transparent)]
    NotLoaded(#[from] NotLoaded),
    /// Rows of jobs that the command had asked for are missing: a mistake of the store.
    #[error("{0} were not loaded")]
    RowsNotLoaded(&'static str),
}

impl Refusal {
    /// No version of a flow fits a program.
    pub(crate) fn unknown_version(flow: &str, program: &CompiledFor) -> Self {
        Self::UnknownVersion { flow: flow.to_owned(), version: program.own().unwrap_or_default() }
    }
}
