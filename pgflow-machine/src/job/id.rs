//! Names of jobs, and of their leases.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::problem::check_name;

/// Bytes that the names of jobs, needs and keys may have.
pub const MAX_NAME: usize = 128;

/// Identifies a job, for ever: a name that was used is not used again while its archive row is kept.
///
/// ```
/// use pgflow_machine::job::JobId;
///
/// let id: JobId = "inv-42".parse()?;
/// assert_eq!(id.as_str(), "inv-42");
/// assert!("".parse::<JobId>().is_err());
/// assert!(JobId::new() < JobId::new(), "made ones are in the order of time");
/// # Ok::<(), pgflow_machine::job::InvalidJobId>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct JobId(Arc<str>);

/// A text that is not the id of a job.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` cannot be the id of a job: {why}")]
pub struct InvalidJobId {
    /// The text, or how it begins.
    pub text: String,
    /// What is wrong with it.
    pub why: &'static str,
}

impl JobId {
    /// A new one; later ones sort after earlier ones.
    #[expect(clippy::new_without_default, reason = "two defaults would differ")]
    pub fn new() -> Self {
        Self(Uuid::now_v7().to_string().into())
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// From what a database has, which is not looked at again.
    pub fn from_stored(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }
}

impl FromStr for JobId {
    type Err = InvalidJobId;

    fn from_str(text: &str) -> Result<Self, InvalidJobId> {
        let begin = || text.chars().take(40).collect();
        check_name(text).map_err(|why| InvalidJobId { text: begin(), why })?;
        Ok(Self(text.into()))
    }
}

impl TryFrom<String> for JobId {
    type Error = InvalidJobId;

    fn try_from(text: String) -> Result<Self, InvalidJobId> {
        text.parse()
    }
}

impl From<JobId> for String {
    fn from(id: JobId) -> Self {
        id.0.as_ref().to_owned()
    }
}

impl Borrow<str> for JobId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The fence of a lease: what is said with another one changes nothing.
///
/// ```
/// use pgflow_machine::job::JobToken;
///
/// assert_ne!(JobToken::new(), JobToken::new());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobToken(pub String);

impl JobToken {
    /// A new one, random.
    #[expect(clippy::new_without_default, reason = "two defaults would differ")]
    pub fn new() -> Self {
        Self(Uuid::new_v4().to_string())
    }
}

impl fmt::Display for JobToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
