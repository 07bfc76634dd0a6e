//! States, each as a colour, a shape and a word.

use maud::{Markup, html};
use pgflow_runtime::RunStatus;
use pgflow_runtime::backend::JobStanding;
use pgflow_runtime::job::{JobOutcome, JobStatus};

/// What a run or a step is, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Look {
    /// It has not begun.
    Waiting,
    /// Its tasks wait for a worker or their next attempt.
    Queued,
    /// Somebody works on it.
    Running,
    Completed,
    Failed,
    Skipped,
    /// Its run ended before it did.
    Stopped,
    Cancelled,
}

impl Look {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Stopped => "stopped",
            Self::Cancelled => "cancelled",
        }
    }

    /// Its shape, as a path around the middle of a square of 16.
    pub(crate) const fn shape(self) -> &'static str {
        match self {
            Self::Waiting => "M-4 0h.01M0 0h.01M4 0h.01",
            Self::Queued => "M0 -4.5V0L3 2",
            Self::Running => "M-2.5 -4L4 0L-2.5 4Z",
            Self::Completed => "M-4 0.5L-1.2 3.5L4.2 -3.2",
            Self::Failed => "M-3.5 -3.5L3.5 3.5M3.5 -3.5L-3.5 3.5",
            Self::Skipped => "M-4 -4L0 0L-4 4M1 -4L5 0L1 4",
            Self::Stopped | Self::Cancelled => "M-3.5 -3.5H3.5V3.5H-3.5Z",
        }
    }
}

impl From<RunStatus> for Look {
    fn from(status: RunStatus) -> Self {
        match status {
            RunStatus::Started => Self::Running,
            RunStatus::Completed => Self::Completed,
            RunStatus::Failed => Self::Failed,
            RunStatus::Cancelled => Self::Cancelled,
        }
    }
}

impl From<JobStanding> for Look {
    fn from(standing: JobStanding) -> Self {
        match standing {
            JobStanding::Live(JobStatus::Active) => Self::Running,
            JobStanding::Live(JobStatus::Ready) => Self::Queued,
            JobStanding::Live(JobStatus::AwaitingFuture | JobStatus::PendingJobs) => Self::Waiting,
            JobStanding::Live(JobStatus::CrashConcern)
            | JobStanding::Ended(JobOutcome::Failed | JobOutcome::Crashed) => Self::Failed,
            JobStanding::Ended(JobOutcome::Done) => Self::Completed,
            JobStanding::Live(JobStatus::Cancelled | JobStatus::Expired)
            | JobStanding::Ended(JobOutcome::Cancelled | JobOutcome::Expired) => Self::Cancelled,
        }
    }
}

/// A small sign with the word beside it.
pub(crate) fn badge(look: impl Into<Look>) -> Markup {
    let look = look.into();
    sign(look, look.word())
}

/// The same for a job, in its own words.
pub(crate) fn badge_of(standing: JobStanding) -> Markup {
    sign(standing.into(), &standing.to_string())
}

fn sign(look: Look, word: &str) -> Markup {
    html! {
        span class={ "badge is-" (look.word()) } {
            svg viewBox="-8 -8 16 16" width="16" height="16" aria-hidden="true" {
                path d=(look.shape()) {}
            }
            (word)
        }
    }
}
