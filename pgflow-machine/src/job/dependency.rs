//! What a job can wait for.

use std::fmt;

use super::JobId;
use crate::RunId;
use crate::status::words;

/// What a job waits for.
///
/// ```
/// use pgflow_machine::job::Dependency;
///
/// assert_eq!(Dependency::Job("scan-1".parse()?).to_string(), "job scan-1");
/// # Ok::<(), pgflow_machine::job::InvalidJobId>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dependency {
    /// Another job.
    Job(JobId),
    /// A run of a flow.
    Run(RunId),
}

impl Dependency {
    /// What kind of thing it is, as databases spell it.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Job(_) => "job",
            Self::Run(_) => "run",
        }
    }

    /// The job, if it is one.
    pub const fn job(&self) -> Option<&JobId> {
        match self {
            Self::Job(job) => Some(job),
            Self::Run(_) => None,
        }
    }

    /// The run, if it is one.
    pub const fn run(&self) -> Option<RunId> {
        match self {
            Self::Run(run) => Some(*run),
            Self::Job(_) => None,
        }
    }

    /// The name of that thing.
    pub fn name(&self) -> String {
        match self {
            Self::Job(job) => job.to_string(),
            Self::Run(run) => run.to_string(),
        }
    }

    /// From what a database has.
    pub fn from_stored(kind: &str, name: String) -> Option<Self> {
        match kind {
            "job" => Some(Self::Job(JobId::from_stored(name))),
            "run" => name.parse().ok().map(Self::Run),
            _ => None,
        }
    }
}

impl fmt::Display for Dependency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind(), self.name())
    }
}

words! {
    /// What becomes of a waiter whose dependency did not end well: as `done` or `completed`.
    Policy {
        /// Any end counts.
        Release = "release",
        /// It fails.
        Fail = "fail",
        /// It is cancelled.
        Cancel = "cancel",
    }
}

/// A dependency, and what becomes of the waiter if that does not end well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// What is waited for.
    pub on: Dependency,
    /// If it does not end well.
    pub policy: Policy,
}

impl Wait {
    /// For this job, however it ends.
    pub fn job(id: JobId) -> Self {
        Self { on: Dependency::Job(id), policy: Policy::Release }
    }

    /// For this run, however it ends.
    pub fn run(id: RunId) -> Self {
        Self { on: Dependency::Run(id), policy: Policy::Release }
    }

    /// With this policy.
    #[must_use]
    pub fn or(self, policy: Policy) -> Self {
        Self { policy, ..self }
    }
}

impl From<JobId> for Wait {
    fn from(id: JobId) -> Self {
        Self::job(id)
    }
}

impl From<&JobId> for Wait {
    fn from(id: &JobId) -> Self {
        Self::job(id.clone())
    }
}

impl From<RunId> for Wait {
    fn from(id: RunId) -> Self {
        Self::run(id)
    }
}
