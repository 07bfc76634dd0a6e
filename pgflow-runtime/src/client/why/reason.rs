//! Reasons, and how they are said.

use std::fmt;

use pgflow_machine::{RunId, RunStatus, Timestamp, WorkerId};

use super::words::{HIDDEN, Moments, alive, many, one_of, taken, times};
use crate::backend::WaitingFor;
use crate::client::JobReason;

/// Why a run does not move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// The run.
    pub run: RunId,
    /// Slug of its version of the flow.
    pub flow: String,
    /// What it is.
    pub status: RunStatus,
    /// When that was so.
    pub now: Timestamp,
    /// What its open steps wait for, in the order of the flow; how it ended, if it did.
    pub reasons: Vec<Reason>,
}

/// Why a step, or a whole run, does not move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The run is over.
    Ended {
        /// How.
        status: RunStatus,
        /// When.
        at: Timestamp,
        /// What it was cancelled for, or failed with.
        why: Option<String>,
    },
    /// Workers are at it.
    Running {
        /// The step.
        step: String,
        /// How many of its tasks.
        tasks: usize,
        /// Who has the first of them.
        worker: Option<WorkerId>,
        /// Since when.
        since: Timestamp,
    },
    /// A worker that nothing is heard of has a task; it is taken back in a while.
    LostWorker {
        /// The step.
        step: String,
        /// The task.
        index: u32,
        /// Who had it.
        worker: Option<WorkerId>,
        /// When it counts as lost.
        until: Timestamp,
    },
    /// An attempt failed, and the next one is not due yet.
    Backoff {
        /// The step.
        step: String,
        /// The task.
        index: u32,
        /// How many tasks of the step wait like this.
        tasks: usize,
        /// Attempts so far.
        attempts: u32,
        /// When the next is due.
        until: Timestamp,
        /// What the last failed with.
        error: String,
    },
    /// Workers could not read what the step works on, and gave it back.
    HeldBack {
        /// The step.
        step: String,
        /// How many of its tasks.
        tasks: usize,
        /// When a worker may try again.
        until: Timestamp,
        /// What they said.
        why: String,
    },
    /// The step begins later.
    Delayed {
        /// The step.
        step: String,
        /// How many of its tasks.
        tasks: usize,
        /// When.
        until: Timestamp,
        /// The caller that started the run asked for that; otherwise its flow says so.
        is_asked: bool,
    },
    /// No worker that is alive has code for this version.
    NoWorker {
        /// The step.
        step: String,
        /// How many of its tasks are ready.
        tasks: usize,
        /// Slug of the version.
        version: String,
        /// Workers that are alive and serve something else.
        alive: usize,
        /// Since when the first is ready.
        since: Timestamp,
    },
    /// All slots of the workers that serve this version are taken.
    Busy {
        /// The step.
        step: String,
        /// How many of its tasks are ready.
        tasks: usize,
        /// How many workers serve it.
        workers: usize,
        /// How many tasks they run at once.
        slots: u32,
        /// Since when the first is ready.
        since: Timestamp,
    },
    /// Attempts need more than a worker, and that cannot be had now.
    Permit {
        /// The step.
        step: String,
        /// How many of its tasks are ready.
        tasks: usize,
        /// What cannot be had: a token of a rate, or units of a resource.
        on: JobReason,
        /// Since when the first is ready.
        since: Timestamp,
    },
    /// A worker will take it any moment.
    Ready {
        /// The step.
        step: String,
        /// How many of its tasks are ready.
        tasks: usize,
        /// How many workers serve it.
        workers: usize,
        /// Since when the first is ready.
        since: Timestamp,
    },
    /// This login may not see which workers there are.
    HiddenWorkers {
        /// The step.
        step: String,
        /// How many of its tasks are ready.
        tasks: usize,
        /// Since when the first is ready.
        since: Timestamp,
    },
    /// Workers were lost while they had a task of it: it may be what ends them.
    Crashes {
        /// The step.
        step: String,
        /// The task.
        index: u32,
        /// How often.
        losses: u32,
    },
    /// The step has done its part, and waits for something else to happen.
    Waiting {
        /// The step.
        step: String,
        /// How many of its tasks.
        tasks: usize,
        /// What the first of them waits for.
        on: WaitingFor,
        /// Since when.
        since: Timestamp,
        /// Until when at most; for a sleep, when it ends.
        until: Option<Timestamp>,
    },
    /// A run that the step waits for does not move.
    Child {
        /// The step.
        step: String,
        /// The run that it waits for.
        run: RunId,
        /// Slug of that run's version of its flow.
        flow: String,
        /// Why that one does not move.
        reason: Box<Self>,
    },
    /// The step waits for others.
    Dependencies {
        /// The step.
        step: String,
        /// Those that have not ended.
        on: Vec<String>,
    },
}

impl Reason {
    /// What programs know it by.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Ended { .. } => "ended",
            Self::Running { .. } => "running",
            Self::LostWorker { .. } => "lost-worker",
            Self::Backoff { .. } => "backoff",
            Self::HeldBack { .. } => "held-back",
            Self::Delayed { .. } => "delayed",
            Self::NoWorker { .. } => "no-worker",
            Self::Busy { .. } => "busy",
            Self::Permit { on, .. } => on.code(),
            Self::Ready { .. } => "ready",
            Self::HiddenWorkers { .. } => "hidden-workers",
            Self::Crashes { .. } => "crashes",
            Self::Waiting { .. } => "waiting",
            Self::Child { .. } => "child",
            Self::Dependencies { .. } => "dependencies",
        }
    }

    /// The step it is about; none if it is about the whole run.
    pub fn step(&self) -> Option<&str> {
        match self {
            Self::Ended { .. } => None,
            Self::Running { step, .. }
            | Self::LostWorker { step, .. }
            | Self::Backoff { step, .. }
            | Self::HeldBack { step, .. }
            | Self::Delayed { step, .. }
            | Self::NoWorker { step, .. }
            | Self::Busy { step, .. }
            | Self::Permit { step, .. }
            | Self::Ready { step, .. }
            | Self::HiddenWorkers { step, .. }
            | Self::Crashes { step, .. }
            | Self::Waiting { step, .. }
            | Self::Child { step, .. }
            | Self::Dependencies { step, .. } => Some(step),
        }
    }

    /// Whether it stays so until a person does something.
    pub fn needs_somebody(&self) -> bool {
        match self {
            Self::Ended { status, .. } => *status == RunStatus::Failed,
            Self::NoWorker { .. } | Self::HeldBack { .. } | Self::Crashes { .. } => true,
            Self::Permit { on, .. } => on.needs_somebody(),
            Self::Child { reason, .. } => reason.needs_somebody(),
            Self::Running { .. }
            | Self::LostWorker { .. }
            | Self::Backoff { .. }
            | Self::Delayed { .. }
            | Self::Busy { .. }
            | Self::Ready { .. }
            | Self::HiddenWorkers { .. }
            | Self::Waiting { .. }
            | Self::Dependencies { .. } => false,
        }
    }

    /// As a sentence: moments as a distance from a moment, or exactly.
    pub fn sentence(&self, moments: impl Into<Moments>) -> String {
        self.said(moments.into())
    }

    fn said(&self, moments: Moments) -> String {
        let ready = |tasks: usize, step: &str, since: Timestamp| {
            format!("{} of step `{step}` ready {}", many(tasks, "task"), moments.lasting(since))
        };
        match self {
            Self::Ended { status, at, why } => {
                let why = why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
                format!("the run {} {}{why}", verb(*status), moments.ago(*at))
            }
            Self::Running { step, tasks, worker, since } => {
                let worker =
                    worker.map(|worker| format!(" (worker {})", worker.0)).unwrap_or_default();
                format!(
                    "step `{step}` is being worked on{worker}: {}, the first {}",
                    many(*tasks, "task"),
                    moments.lasting(*since)
                )
            }
            Self::LostWorker { step, index, worker, until } => {
                let worker =
                    worker.map_or_else(|| "a worker".to_owned(), |it| format!("worker {}", it.0));
                format!(
                    "task {index} of step `{step}` is held by {worker}, which nothing is heard of; it is taken back {}",
                    moments.later(*until)
                )
            }
            Self::Backoff { step, index, tasks, attempts, until, error } => format!(
                "task {index} of step `{step}` failed {} and is tried again {} ({} wait like this); the last error was: {error}",
                times(*attempts),
                moments.later(*until),
                many(*tasks, "task")
            ),
            Self::HeldBack { step, tasks, until, why } => format!(
                "{} of step `{step}` wait {}, held back: {why}",
                many(*tasks, "task"),
                moments.more(*until)
            ),
            Self::Delayed { step, until, is_asked, .. } => {
                let who = if *is_asked { "whoever started the run asked" } else { "the flow says" };
                format!("step `{step}` begins {}, as {who}", moments.later(*until))
            }
            Self::NoWorker { step, tasks, version, alive, since } => format!(
                "no worker serves `{version}`: {} ({})",
                ready(*tasks, step, *since),
                self::alive(*alive)
            ),
            Self::Busy { step, tasks, workers, slots, since } => {
                format!("{}: {}", taken(*workers, *slots), ready(*tasks, step, *since))
            }
            Self::Permit { step, tasks, on, since } => {
                format!("{}: {}", ready(*tasks, step, *since), on.sentence(moments))
            }
            Self::Ready { step, tasks, workers, since } => format!(
                "{}; {} will take it any moment",
                ready(*tasks, step, *since),
                one_of(*workers)
            ),
            Self::HiddenWorkers { step, tasks, since } => {
                format!("{}; {HIDDEN}", ready(*tasks, step, *since))
            }
            Self::Crashes { step, index, losses } => format!(
                "task {index} of step `{step}` lost its worker {}: it may be what ends it",
                times(*losses)
            ),
            Self::Waiting { step, on: WaitingFor::Sleep, since, until, .. } => {
                format!("step `{step}` sleeps {}", moments.more(until.unwrap_or(*since)))
            }
            Self::Waiting { step, tasks, on, since, until } => {
                let until = until.map(|until| format!(", and {} at most", moments.more(until)));
                format!(
                    "{} of step `{step}` waits for {}: {}{}",
                    many(*tasks, "task"),
                    awaited(on),
                    moments.lasting(*since),
                    until.unwrap_or_default()
                )
            }
            Self::Child { step, run, flow, reason } => format!(
                "run {run} of `{flow}`, which step `{step}` waits for: {}",
                reason.said(moments)
            ),
            Self::Dependencies { step, on } => {
                let on: Vec<_> = on.iter().map(|step| format!("`{step}`")).collect();
                format!("step `{step}` waits for {}", on.join(", "))
            }
        }
    }
}

impl Why {
    /// All reasons, in a sentence.
    pub fn text(&self, moments: impl Into<Moments>) -> String {
        let moments = moments.into();
        let sentences: Vec<_> = self.reasons.iter().map(|it| it.said(moments)).collect();
        format!("{}.", sentences.join("; "))
    }

    /// What a step that waits for this run says. Steps that wait for other steps say nothing that those do not.
    pub(super) fn of_child(self, step: &str) -> impl Iterator<Item = Reason> {
        let Self { run, flow, reasons, .. } = self;
        let reasons =
            reasons.into_iter().filter(|reason| !matches!(reason, Reason::Dependencies { .. }));
        reasons.map(move |reason| Reason::Child {
            step: step.to_owned(),
            run,
            flow: flow.clone(),
            reason: Box::new(reason),
        })
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(self.now))
    }
}

fn verb(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Started => "goes on, since",
        RunStatus::Completed => "was completed",
        RunStatus::Failed => "failed",
        RunStatus::Cancelled => "was cancelled",
    }
}

/// What a task waits for, in words. The token of a hook is a secret, unless somebody chose it.
pub(in crate::client) fn awaited(on: &WaitingFor) -> String {
    let several = |what: &str, ids: Vec<String>| match &ids[..] {
        [] => format!("{what}s"),
        [only] => format!("{what} {only}"),
        [first, more @ ..] => format!("{what} {first} and {} more", more.len()),
    };
    match on {
        WaitingFor::Hook { token: Some(token) } if !token.is_announced() => {
            format!("an answer to `{}`", token.as_str())
        }
        WaitingFor::Hook { .. } => "an answer".to_owned(),
        WaitingFor::Sleep => "its time".to_owned(),
        WaitingFor::Runs(runs) => several("run", runs.iter().map(ToString::to_string).collect()),
        WaitingFor::Jobs(jobs) => several("job", jobs.iter().map(ToString::to_string).collect()),
    }
}
