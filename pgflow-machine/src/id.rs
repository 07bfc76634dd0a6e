//! Names of runs and workers.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Identifies a run.
///
/// ```
/// use pgflow_machine::RunId;
///
/// let id: RunId = "018f3c1e-0000-7000-8000-000000000001".parse()?;
/// assert_eq!(id.to_string(), "018f3c1e-0000-7000-8000-000000000001");
/// assert_ne!(RunId::new(), RunId::new());
/// // The same key of the same flow is the same run, on every machine and database.
/// assert_eq!(RunId::from_key("order", "no. 7"), RunId::from_key("order", "no. 7"));
/// assert_ne!(RunId::from_key("order", "no. 7"), RunId::from_key("refund", "no. 7"));
/// # Ok::<(), pgflow_machine::InvalidRunId>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub Uuid);

/// A text that is not the id of a run.
///
/// ```
/// use pgflow_machine::RunId;
///
/// let error = "seven".parse::<RunId>().unwrap_err();
/// assert_eq!(error.text, "seven");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not the id of a run: those look like {}", Uuid::nil())]
pub struct InvalidRunId {
    /// The text.
    pub text: String,
}

impl RunId {
    /// A new one; later ones sort after earlier ones.
    #[expect(clippy::new_without_default, reason = "two defaults would differ")]
    pub fn new() -> Self {
        Self(Uuid::now_v7())
    }

    /// The run that a key of the application's stands for.
    pub fn from_key(flow: &str, key: &str) -> Self {
        let space = Uuid::new_v5(&Uuid::NAMESPACE_OID, flow.as_bytes());
        Self(Uuid::new_v5(&space, key.as_bytes()))
    }
}

impl FromStr for RunId {
    type Err = InvalidRunId;

    fn from_str(text: &str) -> Result<Self, InvalidRunId> {
        text.parse().map(Self).map_err(|_| InvalidRunId { text: text.to_owned() })
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Identifies a worker process, for people who look at what it holds.
///
/// ```
/// assert_ne!(pgflow_machine::WorkerId::new(), pgflow_machine::WorkerId::new());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WorkerId(pub Uuid);

impl WorkerId {
    /// A new one.
    #[expect(clippy::new_without_default, reason = "two defaults would differ")]
    pub fn new() -> Self {
        Self(Uuid::now_v7())
    }
}
