//! Why a run did not complete.

use crate::{DataError, RegisterError};

/// Why a run in a test did not complete.
///
/// ```
/// use pgflow::prelude::*;
/// use pgflow::testing::{self, RunError};
///
/// #[flow]
/// mod ping {
///     #[step(max_attempts = 2)]
///     pub async fn pong() -> pgflow::Result<u8> { Err("no answer".into()) }
/// }
///
/// let error = testing::block_on(testing::run(ping::Flow, ())).unwrap_err();
/// assert_eq!(error.to_string(), "step `pong` failed after attempt 2: no answer");
/// assert!(matches!(error, RunError::Step { step: "pong", .. }));
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The flow cannot be run with what the test offers.
    #[error(transparent)]
    Register(#[from] RegisterError),
    /// A value could not be stored or read back.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A task used up its attempts, and `when_exhausted` is `fail`.
    #[error("step `{step}` failed after attempt {attempt}: {source}")]
    Step {
        /// Slug of the step.
        step: &'static str,
        /// The last attempt.
        attempt: u32,
        /// What it failed with.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A condition was not met, and `when_unmet` is `fail`.
    #[error("the condition of step `{step}` is not met")]
    Condition {
        /// Slug of the step.
        step: &'static str,
    },
    /// A step takes a transaction, and there is no database.
    #[error(
        "step `{step}` takes `tx: &mut Tx`, and a run without a database has none\n\
         help: test it with a worker on `sqlite::memory:`, or call the step's function with a transaction"
    )]
    Transaction {
        /// Slug of the step.
        step: &'static str,
    },
    /// A step waits for an answer that the test does not give.
    #[error(
        "step `{step}` waits for an answer\n\
         help: give it one with `Runner::signal`, or test when it comes with `Sim`"
    )]
    Answer {
        /// Slug of the step.
        step: &'static str,
    },
    /// A step waits for jobs, and there is nobody to work on them.
    #[error("step `{step}` waits for jobs\nhelp: test it with `Sim`, which has a worker")]
    Jobs {
        /// Slug of the step.
        step: &'static str,
    },
}

pgflow_model::debug_with_causes!(RunError);
