//! Reasons, and how they are said.

use std::fmt;
use std::time::Duration;

use pgflow_machine::Timestamp;
use pgflow_machine::job::{Dependency, JobId, JobOutcome};

use crate::backend::JobStanding;
use crate::client::why::{HIDDEN, Moments, alive, many, one_of, taken, times};

/// Why a job does not move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobWhy {
    /// The job.
    pub job: JobId,
    /// What it needs next.
    pub need: String,
    /// Where it stands.
    pub standing: JobStanding,
    /// When that was so.
    pub now: Timestamp,
    /// What it waits for, or how it ended.
    pub reasons: Vec<JobReason>,
}

/// Why a job does not move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobReason {
    /// It is over.
    Ended {
        /// How.
        outcome: JobOutcome,
        /// When.
        at: Timestamp,
        /// What it failed with, or was cancelled for.
        why: Option<String>,
    },
    /// It is to be cancelled; the worker that has it may still finish it.
    Cancelled {
        /// Who.
        by: String,
        /// Why.
        reason: Option<String>,
    },
    /// A worker has it.
    Running {
        /// Who.
        worker: String,
        /// How long its lease lasts.
        until: Timestamp,
    },
    /// A worker that nothing is heard of has it; it is taken back.
    LostWorker {
        /// Who.
        worker: String,
        /// When its lease ends.
        until: Timestamp,
    },
    /// An attempt failed, and the next one is not due yet.
    Backoff {
        /// How many have failed.
        failures: u32,
        /// When the next is due.
        until: Timestamp,
        /// What the last failed with.
        error: String,
    },
    /// It sleeps.
    Delayed {
        /// Until when.
        until: Timestamp,
    },
    /// It waits for others.
    Waits {
        /// Some of them, and how they are doing; nothing if they are not there.
        on: Vec<(Dependency, Option<String>)>,
        /// How many more there are.
        more: usize,
    },
    /// It waits for itself, through others.
    Ring {
        /// Those.
        through: Vec<JobId>,
    },
    /// Another job has its key, or is before it in the key's line.
    Key {
        /// The key.
        key: String,
        /// The other one.
        job: Option<JobId>,
        /// Who has that, if a worker does.
        worker: Option<String>,
    },
    /// It has lost too many workers in a row.
    Concern {
        /// How many.
        streak: u32,
        /// How many may be lost.
        threshold: u32,
    },
    /// Its time is over; the next sweep ends it.
    Expired {
        /// Since when.
        at: Timestamp,
    },
    /// What it needs is paused.
    Paused {
        /// The need.
        need: String,
        /// Since when.
        since: Timestamp,
        /// Who.
        by: String,
    },
    /// No worker that is alive has code for what it needs.
    NoWorker {
        /// The need.
        need: String,
        /// Workers that are alive and serve something else.
        alive: usize,
    },
    /// Attempts take a token of a rate, and there is none.
    Rate {
        /// The rate.
        rate: String,
        /// When there is one; never while the rate is 0.
        until: Option<Timestamp>,
    },
    /// Attempts hold units of a resource, and there are not enough.
    Resource {
        /// The resource.
        resource: String,
        /// How many units an attempt holds.
        units: u32,
        /// How many are held.
        held: u32,
        /// How many there are.
        capacity: u32,
    },
    /// It is taken with others, and they are too few and too young.
    Batch {
        /// With so many they are taken.
        len: u32,
        /// So long after the oldest became ready, too.
        wait: Duration,
    },
    /// All slots of the workers that serve its need are taken.
    Busy {
        /// How many workers.
        workers: usize,
        /// How much they do at once.
        slots: u32,
    },
    /// A worker will take it any moment.
    Ready {
        /// How many workers serve its need.
        workers: usize,
    },
    /// It is ready, and this login may not see which workers there are.
    HiddenWorkers,
    /// Workers were lost while they had it: it may be what ends them.
    Crashes {
        /// How often.
        lapses: u32,
    },
}

impl JobReason {
    /// What programs know it by.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Ended { .. } => "ended",
            Self::Cancelled { .. } => "cancelled",
            Self::Running { .. } => "running",
            Self::LostWorker { .. } => "lost-worker",
            Self::Backoff { .. } => "backoff",
            Self::Delayed { .. } => "delayed",
            Self::Waits { .. } => "dependencies",
            Self::Ring { .. } => "ring",
            Self::Key { .. } => "key",
            Self::Concern { .. } => "concern",
            Self::Expired { .. } => "expired",
            Self::Paused { .. } => "paused",
            Self::NoWorker { .. } => "no-worker",
            Self::Rate { .. } => "rate",
            Self::Resource { .. } => "resource",
            Self::Batch { .. } => "batch",
            Self::Busy { .. } => "busy",
            Self::Ready { .. } => "ready",
            Self::HiddenWorkers => "hidden-workers",
            Self::Crashes { .. } => "crashes",
        }
    }

    /// Whether it stays so until a person does something.
    pub fn needs_somebody(&self) -> bool {
        match self {
            Self::Ended { outcome, .. } => {
                matches!(outcome, JobOutcome::Failed | JobOutcome::Crashed)
            }
            Self::Paused { .. }
            | Self::Rate { until: None, .. }
            | Self::NoWorker { .. }
            | Self::Concern { .. }
            | Self::Ring { .. } => true,
            Self::Resource { units, capacity, .. } => units > capacity,
            _ => false,
        }
    }

    /// As a sentence: moments as a distance from a moment, or exactly.
    pub fn sentence(&self, moments: impl Into<Moments>) -> String {
        let moments = moments.into();
        match self {
            Self::Ended { outcome, at, why } => {
                format!(
                    "the job ended as {outcome} {}{}",
                    moments.ago(*at),
                    because(why.as_deref())
                )
            }
            Self::Cancelled { by, reason } => {
                format!("{by} wants it cancelled{}", because(reason.as_deref()))
            }
            Self::Running { worker, until } => {
                format!("worker {worker} has it, {} unless it says otherwise", moments.more(*until))
            }
            Self::LostWorker { worker, until } => format!(
                "it is held by worker {worker}, which nothing is heard of; it is taken back {}",
                moments.later(*until)
            ),
            Self::Backoff { failures, until, error } => format!(
                "it failed {} and is tried again {}; the last error was: {error}",
                times(*failures),
                moments.later(*until)
            ),
            Self::Delayed { until } => format!("it sleeps {}", moments.more(*until)),
            Self::Waits { on, more } => waits(on, *more),
            Self::Ring { through } => ring(through),
            Self::Key { key, job, worker } => key_held(key, job.as_ref(), worker.as_deref()),
            Self::Concern { streak, threshold } => format!(
                "it lost {} in a row, more than the {threshold} that are allowed: it is not leased until \
                 somebody clears it (`pgflow job clear`), or ends it",
                many(*streak as usize, "worker")
            ),
            Self::Expired { at } => {
                format!("its time was over {}; the next sweep ends it", moments.ago(*at))
            }
            Self::Paused { need, since, by } => format!(
                "{by} paused `{need}` {}: its jobs are not leased until it is resumed (`pgflow queue resume`)",
                moments.ago(*since)
            ),
            Self::NoWorker { need, alive } => {
                format!("no worker serves `{need}` ({})", self::alive(*alive))
            }
            Self::Rate { rate, until: Some(until) } => {
                let later = moments.later(*until);
                format!("rate `{rate}` is used up; the next attempt may begin {later}")
            }
            Self::Rate { rate, until: None } => format!(
                "rate `{rate}` is 0: nothing that takes of it begins until somebody sets another (`pgflow queue rate`)"
            ),
            Self::Resource { resource, units, held, capacity } => {
                room(resource, *units, *held, *capacity)
            }
            Self::Batch { len, wait } => format!(
                "it waits for its batch, which is taken with {len} messages, or {} after the oldest of them became ready",
                format_args!("{wait:?}")
            ),
            Self::Busy { workers, slots } => taken(*workers, *slots),
            Self::Ready { workers } => {
                format!("{} will take it any moment", one_of(*workers))
            }
            Self::HiddenWorkers => format!("it is ready; {HIDDEN}"),
            Self::Crashes { lapses } => {
                format!("it lost its worker {}: it may be what ends it", times(*lapses))
            }
        }
    }
}

fn because(why: Option<&str>) -> String {
    why.map(|why| format!(": {why}")).unwrap_or_default()
}

fn room(resource: &str, units: u32, held: u32, capacity: u32) -> String {
    if units > capacity {
        return format!(
            "an attempt holds {units} units of resource `{resource}`, of which there are {capacity}: it is never taken"
        );
    }
    format!(
        "resource `{resource}` is taken: an attempt holds {units}, and {held} of {capacity} are held"
    )
}

fn waits(on: &[(Dependency, Option<String>)], more: usize) -> String {
    let one = |(on, standing): &(Dependency, Option<String>)| {
        let standing = standing.as_deref().unwrap_or("which is not there");
        format!("{} `{}` ({standing})", on.kind(), on.name())
    };
    let named: Vec<_> = on.iter().map(one).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("it waits for {}{more}", named.join(", "))
}

fn ring(through: &[JobId]) -> String {
    let names: Vec<_> = through.iter().map(|job| format!("`{job}`")).collect();
    format!("it waits for itself, through {}: cancel one of them", names.join(", "))
}

fn key_held(key: &str, job: Option<&JobId>, worker: Option<&str>) -> String {
    match (job, worker) {
        (Some(job), Some(worker)) => {
            format!("key `{key}` is held by job `{job}` (worker {worker})")
        }
        (Some(job), None) => format!("job `{job}` is before it in the line of key `{key}`"),
        (None, _) => format!("it waits for key `{key}`, which is about to be free"),
    }
}

impl JobWhy {
    /// All reasons, in a sentence.
    pub fn text(&self, moments: impl Into<Moments>) -> String {
        let moments = moments.into();
        let sentences: Vec<_> = self.reasons.iter().map(|it| it.sentence(moments)).collect();
        format!("{}.", sentences.join("; "))
    }
}

impl fmt::Display for JobWhy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(self.now))
    }
}
