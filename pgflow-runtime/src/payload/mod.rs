//! Rust values as JSON, without quiet losses.
//!
//! `serde_json` writes NaN and infinities as `null`, so that the next step can't read them. This writer
//! refuses what has no exact form in JSON, and says where it is.

mod compound;
mod error;
mod key;
mod variant;
mod writer;

use pgflow_machine::PayloadError;
use serde::Serialize;
use serde_json::Value;

/// A value as JSON, or where it can't be JSON.
pub(crate) fn to_value<T: Serialize + ?Sized>(value: &T) -> Result<Value, PayloadError> {
    value.serialize(writer::Writer::default()).map_err(error::Failed::finish)
}

#[cfg(test)]
mod tests;
