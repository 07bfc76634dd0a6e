//! Messages: jobs of a queue, with what a claim has to know of them.

use std::collections::BTreeMap;
use std::time::Duration;

use super::PermitProblem;
use crate::job::{JobHold, JobId, JobVerdict, NewJob, check_name};
use crate::{Limits, job::JobProblem};

/// Units of resources, by slug.
pub type Units = BTreeMap<String, u32>;

/// How the names of needs end that batches are formed of: no queue may be called so, since they would be mixed.
const BATCHES: &str = ">batch";

/// The need that batches of a queue are formed of, after its messages were processed.
///
/// ```
/// assert_eq!(pgflow_machine::permit::batches_of("docs"), "docs>batch");
/// ```
pub fn batches_of(queue: &str) -> String {
    format!("{queue}{BATCHES}")
}

/// Whether messages cannot be pushed to a queue of this name, since batches are formed of them.
pub fn is_of_batches(queue: &str) -> bool {
    queue.ends_with(BATCHES)
}

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

    /// What is kept of them: no units are nothing to hold.
    #[must_use]
    pub fn kept(&self) -> Self {
        let some = self.resources.iter().filter(|(_, units)| **units > 0);
        let resources = some.map(|(slug, units)| (slug.clone(), *units)).collect();
        Self { batch_key: self.batch_key.clone(), resources }
    }

    fn check(&self) -> Result<(), JobProblem> {
        check_batch_key(self.batch_key.as_deref())?;
        self.resources.keys().try_for_each(|slug| named("resource", slug))
    }
}

fn named(what: &'static str, name: &str) -> Result<(), JobProblem> {
    check_name(name).map_err(|why| JobProblem::Name { what, why })
}

fn check_batch_key(key: Option<&str>) -> Result<(), JobProblem> {
    key.map_or(Ok(()), |key| named("batch key", key))
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
        if is_of_batches(&self.job.need) {
            let why = "ends with `>batch`, as only what batches are formed of does";
            return Err(JobProblem::Name { what: "queue", why });
        }
        self.fair.as_deref().map_or(Ok(()), |fair| named("fair key", fair))?;
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

impl MessageEnd {
    /// Whether it can be batched by its key, if it has one.
    pub fn check_key(&self) -> Result<(), JobProblem> {
        check_batch_key(self.batch_key.as_deref())
    }

    /// Whether this message can end so, as far as that does not depend on what is there.
    pub fn check(&self, message: &JobId, limits: &Limits) -> Result<(), JobProblem> {
        self.check_key()?;
        self.verdict.check(message, limits)?;
        self.emits.iter().try_for_each(|message| message.check(limits))
    }
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
