//! What goes wrong between Rust values and JSON.

use pgflow_machine::PayloadError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::payload;

/// A value that could not be stored or read back.
///
/// ```
/// # use pgflow::prelude::*;
/// # #[flow(input = u8, schema = false)] mod count { #[step] pub async fn one(run: u8) -> pgflow::Result<u8> { Ok(run) } }
/// let outputs = pgflow::definition::RunOutputs::<count::Flow>::new([("one", serde_json::json!("many"))]);
/// let error = outputs.output().unwrap_err();
/// assert!(error.to_string().starts_with("cannot read the output of step `one`"));
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// JSON that does not have the form of the Rust type.
    #[error("cannot read {what}: {source}")]
    Read {
        /// What was read.
        what: String,
        /// Why that failed.
        source: serde_json::Error,
    },
    /// A Rust value that has no form in JSON.
    #[error("cannot store {what}: {source}")]
    Write {
        /// What was to be stored.
        what: String,
        /// Why that failed, and where.
        source: PayloadError,
    },
    /// An output that should be there.
    #[error("step `{step}` has no output")]
    Missing {
        /// Slug of the step.
        step: String,
    },
    /// An output to map over that is not a JSON array.
    #[error("step `{step}` maps over {what}, which is not a JSON array")]
    NotAnArray {
        /// Slug of the map step.
        step: String,
        /// What it maps over.
        what: String,
    },
}

pgflow_model::debug_with_causes!(DataError);

/// What is read or written, named only when something goes wrong.
#[derive(Clone, Copy)]
pub(crate) enum What {
    RunInput,
    Output(&'static str),
    Item(&'static str),
    #[cfg(feature = "engine")]
    Payload(&'static str),
    #[cfg(feature = "engine")]
    JobOutput,
    #[cfg(feature = "engine")]
    Chunk,
    #[cfg(feature = "engine")]
    Answer,
}

impl std::fmt::Display for What {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::RunInput => f.write_str("the run's input"),
            Self::Output(step) => write!(f, "the output of step `{step}`"),
            Self::Item(step) => write!(f, "an element for map step `{step}`"),
            #[cfg(feature = "engine")]
            Self::Payload(need) => write!(f, "the payload of a job that needs `{need}`"),
            #[cfg(feature = "engine")]
            Self::JobOutput => f.write_str("the job's output"),
            #[cfg(feature = "engine")]
            Self::Chunk => f.write_str("a chunk of the stream"),
            #[cfg(feature = "engine")]
            Self::Answer => f.write_str("the answer"),
        }
    }
}

pub(crate) fn read<T: DeserializeOwned>(what: What, json: &Value) -> Result<T, DataError> {
    T::deserialize(json).map_err(|source| DataError::Read { what: what.to_string(), source })
}

pub(crate) fn write<T: Serialize + ?Sized>(what: What, value: &T) -> Result<Value, DataError> {
    payload::to_value(value).map_err(|source| DataError::Write { what: what.to_string(), source })
}
