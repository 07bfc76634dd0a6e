//! Runs by the beginning of their id.

use std::fmt;
use std::str::FromStr;

use pgflow_machine::{InvalidRunId, RunId};
use uuid::Uuid;

use super::ClientError;
use super::patience::patiently;
use crate::backend::RunSummary;
use crate::db::Db;

/// The beginning of a run's id, with or without hyphens; the whole id is one too.
///
/// ```
/// use pgflow::client::RunIdPrefix;
///
/// let prefix: RunIdPrefix = "018f3c1e-00".parse()?;
/// assert!(prefix.contains("018f3c1e-0001-7000-8000-000000000001".parse()?));
/// assert!(!prefix.contains("018f3c1e-0100-7000-8000-000000000001".parse()?));
/// assert!("seven".parse::<RunIdPrefix>().is_err());
/// # Ok::<(), pgflow::client::InvalidRunId>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunIdPrefix {
    first: RunId,
    last: RunId,
    digits: usize,
}

/// Digits of an id.
const DIGITS: usize = 32;

impl RunIdPrefix {
    /// Whether an id begins like this.
    pub fn contains(&self, run: RunId) -> bool {
        (self.first..=self.last).contains(&run)
    }

    /// The id, if it is a whole one.
    pub fn whole(&self) -> Option<RunId> {
        (self.digits == DIGITS).then_some(self.first)
    }
}

impl FromStr for RunIdPrefix {
    type Err = InvalidRunId;

    fn from_str(text: &str) -> Result<Self, InvalidRunId> {
        let invalid = || InvalidRunId { text: text.to_owned() };
        let digits: String = text.chars().filter(|digit| *digit != '-').collect();
        let is_hex = digits.chars().all(|digit| digit.is_ascii_hexdigit());
        if digits.is_empty() || digits.len() > DIGITS || !is_hex {
            return Err(invalid());
        }
        let filled = |with: &str| {
            let id = digits.clone() + &with.repeat(DIGITS - digits.len());
            Uuid::try_parse(&id).map(RunId).map_err(|_| invalid())
        };
        Ok(Self { first: filled("0")?, last: filled("f")?, digits: digits.len() })
    }
}

impl From<RunId> for RunIdPrefix {
    fn from(run: RunId) -> Self {
        Self { first: run, last: run, digits: DIGITS }
    }
}

impl fmt::Display for RunIdPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = self.first.0.simple().to_string();
        f.write_str(&whole[..self.digits])
    }
}

impl Db {
    /// Up to `max` runs whose ids begin like this, by id.
    pub async fn find_runs(
        &self,
        prefix: RunIdPrefix,
        max: u32,
    ) -> Result<Vec<RunSummary>, ClientError> {
        let RunIdPrefix { first, last, .. } = prefix;
        Ok(patiently(self, move |backend| backend.between(first, last, max)).await?)
    }
}
