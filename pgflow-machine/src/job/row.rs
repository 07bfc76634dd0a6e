//! A job's row.

use serde::{Deserialize, Serialize};

use super::{JobProblem, JobToken};
use crate::Timestamp;
use crate::status::words;

words! {
    /// Where a job stands. It is stored, because a claim has to find it.
    JobState {
        /// A claim can take it.
        Ready = "ready",
        /// Not before a moment.
        Sleeping = "sleeping",
        /// It waits for others.
        Waiting = "waiting",
        /// Another one has its key, or is before it in the key's line.
        Parked = "parked",
        /// A worker has it.
        Leased = "leased",
        /// It has lost too many workers in a row: people decide.
        Concern = "concern",
        /// Its time is over; the next sweep ends it.
        Expired = "expired",
    }
}

words! {
    /// What people see of a live job. The first that fits counts.
    ///
    /// ```
    /// use pgflow_machine::job::JobStatus;
    ///
    /// assert_eq!(JobStatus::CrashConcern.word(), "CRASH_CONCERN");
    /// ```
    JobStatus {
        /// A worker has it.
        Active = "ACTIVE",
        /// It is cancelled, and ends when its lease does.
        Cancelled = "CANCELLED",
        /// It sleeps.
        AwaitingFuture = "AWAITING_FUTURE",
        /// It waits for others.
        PendingJobs = "PENDING_JOBS",
        /// It has lost too many workers in a row.
        CrashConcern = "CRASH_CONCERN",
        /// Its time is over.
        Expired = "EXPIRED",
        /// A worker may take it.
        Ready = "READY",
    }
}

words! {
    /// How a job ended.
    JobOutcome {
        /// With an output.
        Done = "done",
        /// With an error that was not tried again.
        Failed = "failed",
        /// Somebody ended it.
        Cancelled = "cancelled",
        /// Its time was over.
        Expired = "expired",
        /// Its last attempt was lost with its worker.
        Crashed = "crashed",
    }
}

impl JobOutcome {
    /// The ends of dead letters: what can be opened again, and forgotten on its own.
    pub const DEAD: [Self; 2] = [Self::Failed, Self::Crashed];

    /// Whether a job that ended so is a dead letter.
    ///
    /// ```
    /// use pgflow_machine::job::JobOutcome;
    ///
    /// assert!(JobOutcome::Crashed.is_dead());
    /// assert!(!JobOutcome::Cancelled.is_dead(), "somebody wanted that");
    /// ```
    pub fn is_dead(self) -> bool {
        Self::DEAD.contains(&self)
    }
}

/// A place in line: lower ones first. New jobs come after all that are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Seq {
    /// The number that the store gave it.
    Given(i64),
    /// The n-th new one of this command: the store gives it a number when it inserts it.
    New(u32),
}

/// Who wants a job cancelled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Who.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// Why.
    pub reason: Option<String>,
}

/// The right to work on a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobLease {
    /// The fence.
    pub token: JobToken,
    /// When it lapses.
    pub until: Timestamp,
    /// Who has it.
    pub worker: String,
}

/// A live job without its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRow {
    /// Its place in line, kept for life.
    pub seq: Seq,
    /// The capability that it needs next.
    pub need: String,
    /// Greater ones go first.
    pub priority: i32,
    /// Where it stands.
    pub state: JobState,
    /// Not before this. Of one that was back in line: since when it could be had again.
    pub wake_at: Option<Timestamp>,
    /// How many dependencies are open.
    pub waits: u32,
    /// One leased job per key at a time.
    pub key: Option<String>,
    /// Not leased after this.
    pub expires_at: Option<Timestamp>,
    /// How often it was claimed, without what was released.
    pub attempts: u32,
    /// How many of those do not count: before a hand-over or a redrive.
    pub forgiven: u32,
    /// Attempts that failed.
    pub failures: u32,
    /// Leases that lapsed.
    pub lapses: u32,
    /// Leases that lapsed in a row.
    pub streak: u32,
    /// How many attempts its need has; without it, any number.
    pub max_attempts: Option<u32>,
    /// Whether it is cancelled.
    pub cancel: Option<Asked>,
    /// Who has it.
    pub lease: Option<JobLease>,
    /// The token of its newest lease that was settled: the same settle again is no news.
    pub settled: Option<JobToken>,
    /// Since when it is there.
    pub created_at: Timestamp,
}

impl JobRow {
    /// What people see.
    pub fn status(&self, now: Timestamp) -> JobStatus {
        if self.lease.as_ref().is_some_and(|lease| lease.until > now) {
            JobStatus::Active
        } else if self.cancel.is_some() {
            JobStatus::Cancelled
        } else if self.wake_at.is_some_and(|wake_at| wake_at > now) {
            JobStatus::AwaitingFuture
        } else if self.waits > 0 {
            JobStatus::PendingJobs
        } else if self.state == JobState::Concern {
            JobStatus::CrashConcern
        } else if self.is_expired(now) {
            JobStatus::Expired
        } else {
            JobStatus::Ready
        }
    }

    /// Notes that it can be had from now on. A new one says so by when it was made.
    pub(super) fn is_back(&mut self, now: Timestamp) {
        if matches!(self.seq, Seq::Given(_)) {
            self.wake_at = Some(now);
        }
    }

    /// Whether its time is over.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|expires_at| expires_at <= now)
    }

    /// Whether its lease has run out.
    pub fn has_lapsed(&self, now: Timestamp) -> bool {
        self.lease.as_ref().is_some_and(|lease| lease.until <= now)
    }

    /// Whether it is in concern although this threshold does not say so, or the other way round.
    pub fn is_on_wrong_side_of(&self, threshold: u32) -> bool {
        let may_change = matches!(
            self.state,
            JobState::Ready | JobState::Parked | JobState::Sleeping | JobState::Concern
        );
        may_change && (self.state == JobState::Concern) != (self.streak > threshold)
    }

    /// Whether no attempt is left.
    pub fn is_out_of_attempts(&self) -> bool {
        let counted = self.attempts.saturating_sub(self.forgiven);
        self.max_attempts.is_some_and(|max| counted >= max)
    }

    /// Whether this is the token of its lease.
    pub(super) fn is_held_with(&self, token: &JobToken) -> bool {
        self.lease.as_ref().is_some_and(|lease| lease.token == *token)
    }

    /// Its place among others of its need.
    pub fn place(&self) -> (std::cmp::Reverse<i32>, Seq) {
        (std::cmp::Reverse(self.priority), self.seq)
    }
}

/// What all jobs of a database go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobSettings {
    /// Whether there is a trace of every transition.
    pub trace: bool,
    /// How many leases in a row may lapse: with one more, people have to look.
    pub crash_threshold: u32,
}

impl Default for JobSettings {
    fn default() -> Self {
        Self { trace: true, crash_threshold: 5 }
    }
}

impl JobSettings {
    /// Whether they make sense.
    pub fn check(&self) -> Result<(), JobProblem> {
        if self.crash_threshold == 0 { Err(JobProblem::NoThreshold) } else { Ok(()) }
    }
}
