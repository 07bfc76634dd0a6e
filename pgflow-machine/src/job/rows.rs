//! Rows of jobs, as commands ask for them and see them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Dependency, JobId, JobOutcome, JobRow, JobSettings, JobWrites, Policy};
use crate::{Domain, Refusal, RunId, RunStatus};

/// Jobs, their leases, edges and keys.
#[derive(Clone, Copy, Debug)]
pub enum Jobs {}

impl Domain for Jobs {
    type Needs = JobNeeds;
    type Rows = JobRows;
    type Writes<'c> = JobWrites<'c>;
}

/// Rows to load. A store with row locks locks them in the order of these fields, each in its own order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobNeeds {
    /// Runs whose status is wanted.
    pub runs: BTreeSet<RunId>,
    /// Jobs: live, or else archived.
    pub jobs: BTreeSet<JobId>,
    /// Who holds these keys.
    pub keys: BTreeSet<String>,
    /// Of each need in the line of these keys: the jobs that are ready, and so many of those that are parked, in their order.
    pub lines: BTreeMap<String, usize>,
    /// Who waits for these.
    pub waiters: BTreeSet<Dependency>,
    /// What these wait for, and what that waits for in turn: of [`RING_WALK`](super::RING_WALK) jobs at least, if there are
    /// so many.
    pub waits: BTreeSet<JobId>,
}

impl JobNeeds {
    /// These jobs.
    pub fn of_jobs<'j>(jobs: impl IntoIterator<Item = &'j JobId>) -> Self {
        Self { jobs: jobs.into_iter().cloned().collect(), ..Self::default() }
    }

    /// Whether there is nothing to load.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// One more job of this key may change: so many others of its line may come to its head.
    pub(super) fn line(&mut self, key: &str) {
        self.keys.insert(key.to_owned());
        *self.lines.entry(key.to_owned()).or_insert(1) += 1;
    }

    fn without(self, asked: &Self) -> Self {
        let is_longer =
            |(key, many): &(String, usize)| asked.lines.get(key).is_none_or(|asked| asked < many);
        Self {
            runs: &self.runs - &asked.runs,
            jobs: &self.jobs - &asked.jobs,
            keys: &self.keys - &asked.keys,
            lines: self.lines.into_iter().filter(is_longer).collect(),
            waiters: &self.waiters - &asked.waiters,
            waits: &self.waits - &asked.waits,
        }
    }

    fn add(&mut self, more: &Self) {
        self.runs.extend(&more.runs);
        self.jobs.extend(more.jobs.iter().cloned());
        self.keys.extend(more.keys.iter().cloned());
        self.lines.extend(more.lines.iter().map(|(key, many)| (key.clone(), *many)));
        self.waiters.extend(more.waiters.iter().cloned());
        self.waits.extend(more.waits.iter().cloned());
    }
}

/// A job that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedJob {
    /// What it was.
    pub row: JobRow,
    /// How it ended.
    pub outcome: JobOutcome,
}

/// What a store has loaded for a command.
#[derive(Debug, Default)]
pub struct JobRows {
    /// What all jobs go by.
    pub settings: JobSettings,
    /// Needs that are queues of pipelines, as far as it matters.
    pub queues: BTreeSet<String>,
    /// Live jobs.
    pub jobs: HashMap<JobId, JobRow>,
    /// Jobs that have ended.
    pub archived: HashMap<JobId, ArchivedJob>,
    /// Runs.
    pub runs: HashMap<RunId, RunStatus>,
    /// Keys, and who has them.
    pub keys: HashMap<String, Option<JobId>>,
    /// Who waits for these.
    pub waiters: HashMap<Dependency, Vec<(JobId, Policy)>>,
    /// What jobs wait for.
    pub waits: HashMap<JobId, Vec<Dependency>>,
    /// What was asked for.
    asked: JobNeeds,
}

impl JobRows {
    /// Nothing yet.
    pub fn new(settings: JobSettings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// What of these needs was not asked for yet. From now on it was: load it.
    pub fn missing(&mut self, needs: JobNeeds) -> JobNeeds {
        let missing = needs.without(&self.asked);
        self.asked.add(&missing);
        missing
    }

    /// A job, also one that has just ended.
    pub fn row(&self, id: &JobId) -> Option<&JobRow> {
        self.jobs.get(id).or_else(|| self.archived.get(id).map(|archived| &archived.row))
    }

    /// How many leases of this job in a row may lapse before people have to look: any number of a message with a budget, which is
    /// dead when that is spent.
    pub fn threshold_of(&self, row: &JobRow) -> u32 {
        let is_message = row.max_attempts.is_some() && self.queues.contains(&row.need);
        if is_message { u32::MAX } else { self.settings.crash_threshold }
    }

    /// Needs of which it has to be known whether they are queues: of jobs that are about to be set aside, or are.
    pub fn needs_in_danger(&self) -> BTreeSet<String> {
        let threshold = self.settings.crash_threshold;
        let is_in_danger = |row: &&JobRow| row.max_attempts.is_some() && row.streak >= threshold;
        self.jobs.values().filter(is_in_danger).map(|row| row.need.clone()).collect()
    }

    /// Whether a job waits for this, as far as it was asked.
    pub fn has_waiters(&self, of: &Dependency) -> bool {
        self.waiters.get(of).is_some_and(|waiters| !waiters.is_empty())
    }

    /// An error unless it was asked who waits for this: nobody would be told of its end.
    pub(super) fn check_waiters(&self, of: &Dependency) -> Result<(), Refusal> {
        let is_asked = self.asked.waiters.contains(of);
        is_asked.then_some(()).ok_or(Refusal::RowsNotLoaded("waiters of a job"))
    }

    /// An error unless the line of this key is known.
    pub(super) fn check_line(&self, key: &str) -> Result<(), Refusal> {
        let is_held = matches!(self.keys.get(key), Some(Some(_)));
        let is_asked = is_held || self.asked.lines.contains_key(key);
        is_asked.then_some(()).ok_or(Refusal::RowsNotLoaded("jobs in line for a key"))
    }
}
