//! What a worker says about the jobs it holds, and what it is told.

use std::time::Duration;

use serde_json::Value;

use super::{JobId, JobProblem, JobToken, Moment, NewJob, Wait};
use crate::work::back_off;

/// A claimed job and the token of its lease.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobHold {
    /// The job.
    pub job: JobId,
    /// The fence.
    pub token: JobToken,
}

/// The end of an attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSettle {
    /// The attempt.
    pub hold: JobHold,
    /// How it ended.
    pub verdict: JobVerdict,
    /// Jobs that its handler has forked: they are submitted if this takes effect, before the verdict does, so that a
    /// hand-over can wait for them. One that is there is left as it is; a problem of one refuses the settle.
    pub submits: Vec<NewJob>,
}

impl JobSettle {
    /// Without new jobs.
    pub fn new(hold: JobHold, verdict: JobVerdict) -> Self {
        Self { hold, verdict, submits: Vec::new() }
    }
}

/// How an attempt ended, and the jobs that it forks.
#[derive(Clone, Debug, PartialEq)]
pub struct JobEnd {
    /// How it ended.
    pub verdict: JobVerdict,
    /// Jobs to submit with that.
    pub submits: Vec<NewJob>,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq)]
pub enum JobVerdict {
    /// The job is done, with this output.
    Finished(Value),
    /// With an error.
    Failed {
        /// What went wrong.
        error: String,
        /// Whether it is tried again.
        retry: JobRetry,
    },
    /// It needs something else now.
    HandedOver(HandOver),
    /// It was given up without fault: nothing is counted.
    Released,
}

/// Whether a failed job is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobRetry {
    /// While attempts are left, after this delay: the worker knows the need's policy.
    After(Duration),
    /// No.
    Never,
}

impl JobRetry {
    /// After a failure that says nothing about that: twice as long each time, from so many seconds on, and a day at most.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use pgflow_machine::job::JobRetry;
    ///
    /// assert_eq!(JobRetry::later(5, 0), JobRetry::After(Duration::from_secs(5)));
    /// assert_eq!(JobRetry::later(5, 2), JobRetry::After(Duration::from_secs(20)));
    /// assert_eq!(JobRetry::later(1, u32::MAX), JobRetry::After(Duration::from_hours(24)));
    /// assert_eq!(JobRetry::later(0, 9), JobRetry::After(Duration::ZERO));
    /// ```
    pub fn later(base_delay: u32, failures: u32) -> Self {
        Self::After(Duration::from_secs(back_off(base_delay, failures)))
    }
}

/// What a job needs next. Its place in line, key and expiry stay.
#[derive(Clone, Debug, PartialEq)]
pub struct HandOver {
    /// The capability.
    pub need: String,
    /// Its payload from now on; without one it stays as it is.
    pub payload: Option<Value>,
    /// What it waits for before.
    pub after: Vec<Wait>,
    /// Not before this.
    pub wake: Option<Moment>,
    /// How many attempts the new need has.
    pub max_attempts: Option<u32>,
    /// Whether it gives up its key, and others of that need not wait for it any more.
    pub frees_key: bool,
}

impl HandOver {
    /// To this capability, now, with any number of attempts.
    pub fn to(need: impl Into<String>) -> Self {
        Self {
            need: need.into(),
            payload: None,
            after: Vec::new(),
            wake: None,
            max_attempts: None,
            frees_key: false,
        }
    }
}

/// What became of a [`JobSettle`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobSettled {
    /// It took effect.
    Applied,
    /// Another lease has the job, or none.
    Fenced,
    /// This lease was settled before.
    AlreadySettled,
    /// The job was cancelled, and has ended so.
    Cancelled,
    /// There is no such job.
    Unknown,
    /// A hand-over, an output or a new job that can't be: the job stays leased.
    Refused(JobProblem),
}

/// What became of a heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobBeat {
    /// The lease lasts longer now.
    Extended,
    /// Another lease has the job, or none.
    Lost,
    /// The job is cancelled: finish, or stop.
    Cancelled,
}
