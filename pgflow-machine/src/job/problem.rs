//! What is wrong with what a caller wants.

use std::time::Duration;

use super::{Dependency, MAX_NAME};
use crate::PayloadError;

/// Why a job is not taken, or not handed on. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JobProblem {
    /// The name of a need or key, or of a worker.
    #[error("the name of the {what} {why}")]
    Name {
        /// Of what.
        what: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The payload or output can't be stored.
    #[error("cannot store {what}: {source}")]
    Payload {
        /// What it is.
        what: &'static str,
        /// Why.
        source: PayloadError,
    },
    /// It would wait for something that is not there.
    #[error("there is no {0} to wait for")]
    UnknownDependency(Dependency),
    /// It would wait for itself.
    #[error("a job cannot wait for itself")]
    WaitsForItself,
    /// What it would wait for waits for it.
    #[error("waiting for {0} would close a ring: that waits for this job")]
    Ring(Dependency),
    /// A name of the needs of a kind of job that this program has, and that has none of that name.
    #[error("the kind of job `{kind}` has no need `{need}`")]
    UnknownNeed {
        /// Whose need it would be.
        kind: String,
        /// What was said.
        need: String,
    },
    /// No attempt at all.
    #[error("max_attempts must be at least 1")]
    NoAttempts,
    /// Every job would be a concern.
    #[error("the crash threshold must be at least 1")]
    NoThreshold,
    /// A claim that names no need.
    #[error("a claim must name at least one need")]
    NoNeeds,
    /// A claim of nothing.
    #[error("a claim must be for at least one job")]
    NoRoom,
    /// It would hold a resource that is not there.
    #[error("there is no resource `{0}`: give it a capacity first")]
    UnknownResource(String),
    /// More units at once than there will ever be.
    #[error(
        "there are {capacity} units of resource `{resource}`, and {units} are wanted at once: give it a greater capacity"
    )]
    TooManyUnits {
        /// Of what.
        resource: String,
        /// What one attempt is to hold.
        units: u32,
        /// What there is.
        capacity: u32,
    },
    /// A span or a moment that no clock will show: see [`LONGEST`](super::LONGEST).
    #[error(
        "the {0} is no time for a job: it may be a hundred years from now, and in the years 1 to 9998"
    )]
    Time(&'static str),
    /// A lease that is over at once.
    #[error("a lease must last longer than {0:?}")]
    ShortLease(Duration),
}

/// Whether every database can keep this as the name of a job, need, key or worker.
///
/// ```
/// use pgflow_machine::job::check_name;
///
/// assert!(check_name("gpu'; drop table x;--").is_ok(), "names are data");
/// assert!(check_name("a\0b").is_err());
/// ```
pub fn check_name(name: &str) -> Result<(), &'static str> {
    if name.is_empty() {
        return Err("is empty");
    }
    if name.len() > MAX_NAME {
        return Err("has more than 128 bytes");
    }
    if name.contains('\0') {
        return Err("contains the character NUL");
    }
    Ok(())
}

/// The same, as a problem.
pub(super) fn named(what: &'static str, name: &str) -> Result<(), JobProblem> {
    check_name(name).map_err(|why| JobProblem::Name { what, why })
}
