//! What is wrong with what a caller wants of permits.

use super::BatchRule;
use crate::job::JobProblem;

/// Why a permit cannot be given, or a stage cannot be claimed for. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PermitProblem {
    /// A name.
    #[error("the name of the {what} {why}")]
    Name {
        /// Of what.
        what: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A claim that makes no sense.
    #[error(transparent)]
    Job(#[from] JobProblem),
    /// Nobody could ever hold it.
    #[error("the capacity of resource `{0}` must be at least 1")]
    NoCapacity(String),
    /// A stage names a rate that is not there.
    #[error("there is no rate `{0}`")]
    UnknownRate(String),
    /// No units at all.
    #[error("a message must hold at least one unit of resource `{0}`, or not name it")]
    NoUnits(String),
    /// A bucket that can never have a token.
    #[error("a rate must have a burst of at least 1; to pause, set a rate of 0")]
    NoBurst,
    /// More than the clock can tell apart.
    #[error("a rate cannot be more than one per microsecond, and its period must not be empty")]
    TooFast,
    /// Nobody would see its next token.
    #[error("the period of a rate cannot be longer than a hundred years")]
    TooSlow,
    /// A text that says no rate.
    #[error("`{0}` is not a rate such as `5/s`, `600/min` or `100/h`; 0 is a pause")]
    NoRate(String),
    /// A batch of nothing.
    #[error("a batch must have room for at least one message: its len is 0")]
    EmptyBatch,
    /// A batch that could never be full.
    #[error("a batch can have at most {most} messages, as many as a claim looks at: its len is {0}", most = BatchRule::MOST)]
    LongBatch(u32),
    /// A batch of no bytes.
    #[error("a batch must have room for at least one byte")]
    NoBytes,
}
