//! How something ended that was waited for.

use std::fmt;

use pgflow_machine::wait::ChildStatus as Stored;
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// How a run or job ended, for a step that wants to know instead of failing with it: `Waiting<Outcome<T>>`.
///
/// ```
/// use pgflow::wait::{ChildStatus, Outcome};
/// use serde_json::json;
///
/// let outcome: Outcome<u8> = serde_json::from_value(json!({ "ok": 7 })).unwrap();
/// assert_eq!(outcome.ok(), Some(7));
/// let failed = json!({ "error": { "status": "failed", "message": "no paper" } });
/// let outcome: Outcome<u8> = serde_json::from_value(failed).unwrap();
/// assert!(matches!(outcome, Outcome::Error(error) if error.status == ChildStatus::Failed));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Outcome_of_{T}")]
pub enum Outcome<T> {
    /// Well, with this output.
    Ok(T),
    /// Not well.
    Error(ChildError),
}

/// Why there is no output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChildError {
    /// What became of it.
    pub status: ChildStatus,
    /// What went wrong, for people.
    pub message: String,
}

/// What became of a run or job that did not end well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChildStatus {
    /// It failed.
    Failed,
    /// It was cancelled.
    Cancelled,
    /// A job that was not begun in time.
    Expired,
    /// A job that lost too many workers.
    Crashed,
    /// It was deleted before it ended, or before anybody looked how.
    Deleted,
}

impl ChildStatus {
    /// As databases have it; nothing of what ended well.
    fn of(stored: Stored) -> Option<Self> {
        match stored {
            Stored::Completed => None,
            Stored::Failed => Some(Self::Failed),
            Stored::Cancelled => Some(Self::Cancelled),
            Stored::Expired => Some(Self::Expired),
            Stored::Crashed => Some(Self::Crashed),
            Stored::Deleted => Some(Self::Deleted),
        }
    }
}

impl<'de> Deserialize<'de> for ChildStatus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = Stored::deserialize(deserializer)?;
        Self::of(stored).ok_or_else(|| D::Error::custom("what is completed has an output"))
    }
}

impl<T> Outcome<T> {
    /// The output, if it ended well.
    pub fn ok(self) -> Option<T> {
        self.into_result().ok()
    }

    /// For `?`.
    ///
    /// ```
    /// # use pgflow::wait::Outcome;
    /// fn both(first: Outcome<u8>, second: Outcome<u8>) -> pgflow::Result<u8> {
    ///     Ok(first.into_result()? + second.into_result()?)
    /// }
    /// assert_eq!(both(Outcome::Ok(1), Outcome::Ok(2))?, 3);
    /// # Ok::<(), pgflow::Error>(())
    /// ```
    pub fn into_result(self) -> Result<T, ChildError> {
        match self {
            Self::Ok(output) => Ok(output),
            Self::Error(error) => Err(error),
        }
    }
}

impl fmt::Display for ChildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ChildError {}

#[cfg(test)]
mod tests {
    use pgflow_machine::wait::mismatch;
    use serde_json::{json, to_value};

    use super::*;

    #[test]
    fn whatever_becomes_of_a_child_can_be_read() {
        let schema = to_value(schemars::schema_for!(Outcome<u8>)).expect("a schema");
        for stored in Stored::ALL {
            let outcome = json!({ "error": { "status": stored, "message": "" } });
            let fits = mismatch(&schema, &outcome).is_none();
            let read = serde_json::from_value::<Outcome<u8>>(outcome.clone());
            assert_eq!(fits, *stored != Stored::Completed, "{stored}");
            assert_eq!(read.is_ok(), fits, "{stored}");
            assert!(read.is_err() || to_value(read.expect("fits")).expect("JSON") == outcome);
        }
    }
}
