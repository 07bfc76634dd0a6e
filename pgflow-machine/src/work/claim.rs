//! What a worker asks for.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::{Choice, Ready, Room};
use crate::permit::Stage;
use crate::{Catalog, Timestamp, Version, WorkerId};

/// What a worker has room for.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// What it has code for; each source once.
    pub wants: Vec<Want>,
    /// How much at most, of all sources together.
    pub max: u32,
    /// Who asks.
    pub worker: WorkerId,
}

/// Where work comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// Tasks of a version of a flow, by its slug.
    Queue(String),
    /// Jobs that need this capability.
    Need(String),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Queue(slug) => write!(f, "queue `{slug}`"),
            Self::Need(need) => write!(f, "need `{need}`"),
        }
    }
}

impl Source {
    /// The queue of a version of a flow.
    pub fn queue(slug: impl Into<String>) -> Self {
        Self::Queue(slug.into())
    }

    /// The slug, if it is the queue of a version of a flow.
    pub fn as_queue(&self) -> Option<&str> {
        match self {
            Self::Queue(slug) => Some(slug),
            Self::Need(_) => None,
        }
    }

    /// The capability, if it is one.
    pub fn as_need(&self) -> Option<&str> {
        match self {
            Self::Need(need) => Some(need),
            Self::Queue(_) => None,
        }
    }
}

/// Work that a worker wants some of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Want {
    /// Where it comes from.
    pub source: Source,
    /// Parts of that source it takes less of.
    pub quotas: Vec<Quota>,
    /// How long a lease of it lasts, where that is the worker's choice.
    pub lease: Option<Duration>,
    /// What a stage of a pipeline takes of it, if it is for one.
    pub stage: Option<Stage>,
    /// So many of it may be claimed before there is room for them.
    pub ahead: u32,
}

impl From<Source> for Want {
    fn from(source: Source) -> Self {
        Self { source, quotas: Vec::new(), lease: None, stage: None, ahead: 0 }
    }
}

/// How many tasks of a step a worker has room for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Slug of the step.
    pub step: String,
    /// How many; none if 0.
    pub max: u32,
}

/// A step that tasks may be taken of.
#[derive(Clone, Debug)]
pub struct Lane {
    /// Its version of the flow.
    pub version: Arc<Version>,
    /// Its number.
    pub step: usize,
    /// How many tasks at most.
    pub max: u32,
}

/// A task that may be claimed, by whatever the store finds it again.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<T> {
    /// The task.
    pub task: T,
    /// How large its input is.
    pub bytes: usize,
    /// The number of its lane among those asked for.
    pub lane: usize,
    /// Its number within its step.
    pub index: u32,
}

impl Claim {
    /// Up to `max` tasks of these versions of flows.
    ///
    /// ```
    /// use pgflow_machine::{Claim, WorkerId};
    ///
    /// let claim = Claim::of_queues(["orders", "orders__v2"], 16, WorkerId::new());
    /// assert!(claim.queues().eq(["orders", "orders__v2"]));
    /// ```
    pub fn of_queues<S: Into<String>>(
        queues: impl IntoIterator<Item = S>,
        max: u32,
        worker: WorkerId,
    ) -> Self {
        let wants = queues.into_iter().map(|slug| Want::from(Source::queue(slug))).collect();
        Self { wants, max, worker }
    }

    /// Slugs of the versions of flows that are asked for.
    pub fn queues(&self) -> impl Iterator<Item = &str> {
        self.wants.iter().filter_map(|want| want.source.as_queue())
    }

    /// Capabilities that are asked for, with how long their leases last.
    pub fn needs(&self) -> impl Iterator<Item = (&str, Option<Duration>)> {
        self.wants.iter().filter_map(|want| Some((want.source.as_need()?, want.lease)))
    }

    /// Steps that it takes fewer tasks of, with the slugs of their versions.
    pub fn quotas(&self) -> impl Iterator<Item = (&str, &Quota)> {
        self.wants.iter().flat_map(|want| {
            let slug = want.source.as_queue();
            want.quotas.iter().filter_map(move |quota| Some((slug?, quota)))
        })
    }

    /// The steps of the queues that are asked for, except those that the worker has no room for.
    pub fn lanes(&self, catalog: &Catalog) -> Vec<Lane> {
        let versions = catalog.by_slugs(self.queues()).into_iter();
        let steps = versions.flat_map(|version| {
            let steps = 0..version.plan.steps().len();
            steps.map(move |step| (Arc::clone(&version), step))
        });
        let lane = |(version, step): (Arc<Version>, usize)| {
            let max = self.room(version.slug(), &version.plan.step(step).slug);
            Lane { version, step, max }
        };
        steps.map(lane).filter(|lane| lane.max > 0).collect()
    }

    fn room(&self, flow: &str, step: &str) -> u32 {
        let quotas = self.quotas().filter(|(slug, quota)| *slug == flow && quota.step == step);
        quotas.map(|(_, quota)| quota.max).min().unwrap_or(self.max).min(self.max)
    }

    /// Which of the tasks that are ready in these lanes it takes; `nth` says which claim it is.
    pub fn choose<T>(
        &self,
        lanes: &[Lane],
        ready: Vec<Ready<Candidate<T>>>,
        now: Timestamp,
        nth: u32,
    ) -> Choice<Candidate<T>> {
        let room = Room {
            max: self.max,
            quotas: lanes.iter().map(|lane| lane.max).collect(),
            flows: lanes.iter().map(|lane| lane.version.id).collect(),
            nth,
        };
        Choice::new(ready, now, room, |candidate| candidate.bytes)
    }
}
