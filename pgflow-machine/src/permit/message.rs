//! Messages: jobs of a queue, with what a claim has to know of them.

use std::collections::BTreeMap;
use std::time::Duration;

use super::PermitProblem;
use crate::job::{JobHold, JobVerdict, NewJob, check_name};
use crate::{Limits, job::JobProblem};

/// Units of resources, by slug.
pub type Units = BTreeMap<String, u32>;

/// What a claim has to know of a message besides its job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// Only messages of one key are in a batch.
    pub batch_key: Option<String>,
    /// What an attempt at it holds.
    pub resources: Units,
}

impl Columns {
    /// Whether there is nothing to keep.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn check(&self) -> Result<(), JobProblem> {
        let named =
            |what, name: &str| check_name(name).map_err(|why| JobProblem::Name { what, why });
        self.batch_key.as_deref().map_or(Ok(()), |key| named("batch key", key))?;
        self.resources.keys().try_for_each(|slug| named("resource", slug))
    }
}

/// A message to push.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The job that it is: its need is the queue, its key the one that is served in order.
    pub job: NewJob,
    /// Messages of one key do not starve those of others.
    pub fair: Option<String>,
    /// What else a claim has to know.
    pub columns: Columns,
}

impl From<NewJob> for Message {
    fn from(job: NewJob) -> Self {
        Self { job, fair: None, columns: Columns::default() }
    }
}

impl Message {
    /// Whether it can be pushed, as far as that does not depend on what is there.
    pub fn check(&self, limits: &Limits) -> Result<(), JobProblem> {
        self.job.check(limits)?;
        if let Some(fair) = &self.fair {
            check_name(fair).map_err(|why| JobProblem::Name { what: "fair key", why })?;
        }
        self.columns.check()
    }
}

/// Messages that were claimed together: one, or a batch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageLease {
    /// What tells this claim from others.
    pub batch: String,
    /// The queue.
    pub need: String,
    /// The messages and their tokens.
    pub holds: Vec<JobHold>,
    /// How long a beat extends them.
    pub lasts: Duration,
}

/// How an attempt at a message ended.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageEnd {
    /// How.
    pub verdict: JobVerdict,
    /// Messages to push with that.
    pub emits: Vec<Message>,
    /// Where a message that is handed over is batched.
    pub batch_key: Option<String>,
    /// Whether a message that failed keeps others of its key waiting until it is tried again.
    pub blocks: bool,
}

impl From<JobVerdict> for MessageEnd {
    fn from(verdict: JobVerdict) -> Self {
        Self { verdict, emits: Vec::new(), batch_key: None, blocks: false }
    }
}

/// The end of an attempt at a message.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageSettle {
    /// The attempt.
    pub hold: JobHold,
    /// The queue that it was claimed from.
    pub need: String,
    /// How it ended.
    pub end: MessageEnd,
}

/// Units that nobody could hold.
pub(super) fn check_units(units: &Units) -> Result<(), PermitProblem> {
    match units.iter().find(|(_, units)| **units == 0) {
        Some((slug, _)) => Err(PermitProblem::NoUnits(slug.clone())),
        None => Ok(()),
    }
}

/// Whether these units could ever be held, with so much of each resource.
///
/// ```
/// use pgflow_machine::permit::fits;
///
/// let capacities = [("gpu".to_owned(), 2)].into();
/// assert!(fits(&[("gpu".to_owned(), 2)].into(), &capacities).is_ok());
/// let never = fits(&[("gpu".to_owned(), 3)].into(), &capacities).unwrap_err();
/// assert_eq!(never.to_string(), "there are 2 units of resource `gpu`, and 3 are wanted at once: give it a greater capacity");
/// assert!(fits(&[("tpu".to_owned(), 1)].into(), &capacities).is_err());
/// ```
pub fn fits(units: &Units, capacities: &BTreeMap<String, u32>) -> Result<(), JobProblem> {
    for (slug, units) in units {
        let Some(capacity) = capacities.get(slug).copied() else {
            return Err(JobProblem::UnknownResource(slug.clone()));
        };
        if *units > capacity {
            let (resource, units) = (slug.clone(), *units);
            return Err(JobProblem::TooManyUnits { resource, units, capacity });
        }
    }
    Ok(())
}
