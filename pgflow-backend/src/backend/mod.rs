//! The contract between the engine and a database.
//!
//! A [`Backend`] keeps runs. Each of its methods is one transition: one transaction, committed before
//! the method returns, and in the best case one round trip. What can be expected to happen is an outcome, not an
//! error; an error means that the request was wrong or that nobody knows whether it took effect, and then
//! asking again leads to the same state.
//!
//! | noun | what it is about |
//! |---|---|
//! | [`Definitions`] | versions of flows |
//! | [`Runs`] | starting, ending, reading and deleting runs |
//! | [`Work`] | claims, settles, leases, lost work, transactions of steps |
//! | [`Jobs`] | work that decides its own way |
//! | [`Pipelines`] | messages of queues, batches, resources and rates |
//! | [`Streams`] | what is said while work goes on |
//! | [`Waits`] | attempts that end by waiting |
//! | [`Schedules`] | runs that start by the clock |
//! | [`Upkeep`] | what people who look after a database need; nothing of a run depends on it |
//!
//! A [`Backend`] is all of them. What a new kind of work needs is a noun of its own, and a backend that lacks it says so:
//! [`Backend::jobs`] and the like answer with [`BackendError::Unsupported`], and a worker that needs it is refused at its start.
//!
//! **Exempt from semantic versioning**: the contract is for the backends of this project, and for tests that wrap them. It
//! changes with any release.
//!
//! | rule | |
//! |---|---|
//! | R1, R2 | events of a run are numbered 1, 2, 3 … without gaps; whoever saw number *n* can see all before it |
//! | R3 | a settle or heartbeat of a superseded attempt changes nothing |
//! | R4, R5 | a run or step ends once, and an end is final; only [`Runs::retry`] opens a failed run again |
//! | R6 | a lost hint costs latency, never work |
//! | R7 | time is the database's; durations travel as numbers |
//! | R8 | a claim is committed before it is returned |
//! | R9 | repeating a call whose outcome is unknown leads to the same state |
//! | R10 | a payload comes back as it went in |

mod definitions;
mod ended;
mod error;
mod job_upkeep;
mod jobs;
pub(crate) mod narrow;
mod pipelines;
mod run;
mod runs;
mod schedules;
#[cfg(feature = "sql")]
mod sql_error;
mod streams;
mod trip;
mod upkeep;
mod waits;
mod wake;
mod work;

use std::future::Future;
use std::pin::Pin;

pub use crate::tx::{StepTransaction, StepTx, WriteLock};
pub use definitions::{Definitions, KnownVersion};
pub use ended::{EndedRun, describe as describe_ended};
pub use error::BackendError;
pub use job_upkeep::{Counted, after_all};
pub use job_upkeep::{JobDepths, JobPlace, JobSearch, JobUpkeep, NeedDepth, PausedNeed};
pub use jobs::{
    ClaimedJob, ClaimedJobs, JobEvent, JobQuery, JobRecord, JobStanding, JobSummary, Jobs, JobsOf,
    JobsSwept,
};
pub use pgflow_machine::{
    Begins, Cancelled, Claim, Ensured, FlowVersion, NewRun, Quota, Retried, Source, Started, Want,
};
pub use pipelines::{
    ClaimedBatch, ClaimedBatches, Hold, MessageRow, Pipelines, StageClaim, StepClaim, TaskHold,
};
pub use run::{Parts, RunQuery, RunRecord, RunSummary, StepRecord, StepWork, TaskWork};
pub use runs::Runs;
pub use schedules::{DueQuery, DueSchedules, NewSchedule, ScheduleQuery, Schedules};
#[cfg(feature = "sql")]
pub use sql_error::SqlError;
pub use streams::{Chunk, PageSize, StreamPage, StreamQuery, StreamSummary, Streams};
pub use trip::{LEASE, Trip, instead_of, job_outcome};
pub use upkeep::{
    Activity, Checkup, Definition, Ended, Fact, Finding, FlowRecord, Minute, QueueDepth, Sample,
    SchemaState, Severity, StepStatistics, StepTimes, TaskQuery, TaskRecord, Upkeep, WorkerCard,
    WorkerQuery, WorkerRecord,
};
pub use waits::{LateWaits, WaitQuery, WaitRecord, WaitingFor, Waits, Woken};
pub use wake::{Topic, Wake, Wakes};
pub use work::{Claimed, ClaimedTask, ClaimedWork, Settlement, Swept, Work};

use pgflow_machine::Limits;

/// What a method of a [`Backend`] returns.
pub type Reply<'a, T> = Pin<Box<dyn Future<Output = Result<T, BackendError>> + Send + 'a>>;

/// What a backend can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// Other processes can work on the same runs.
    pub multi_process: bool,
    /// A step's own SQL can share the transaction that records its completion.
    pub transactions: bool,
    /// A call holds a connection until it is answered, so that one which is cancelled half-way costs a connection: such
    /// calls are made in tasks of their own. What answers at once needs no runtime that could run a task.
    pub holds_connections: bool,
}

/// A database that keeps runs.
pub trait Backend: Definitions + Runs + Work + Upkeep {
    /// Its name, for messages: `postgres`, `sqlite`, `memory`.
    fn name(&self) -> &'static str;

    /// What it can do.
    fn abilities(&self) -> Abilities;

    /// What payloads it takes. The caller checks them before it sends any.
    fn limits(&self) -> Reply<'_, Limits>;

    /// Brings the database's schema up to date. Safe to call at every start of every process.
    fn migrate(&self) -> Reply<'_, ()>;

    /// Hints that something may have changed.
    fn wakes(&self) -> Wakes;

    /// Jobs, if it keeps any; otherwise [`Unsupported`](BackendError::Unsupported).
    fn jobs(&self) -> Result<&dyn Jobs, BackendError> {
        Err(BackendError::Unsupported { backend: self.name(), what: "keep jobs yet" })
    }

    /// Jobs for those who look after them, if it keeps any; otherwise [`Unsupported`](BackendError::Unsupported).
    fn job_upkeep(&self) -> Result<&dyn JobUpkeep, BackendError> {
        Err(BackendError::Unsupported { backend: self.name(), what: "keep jobs yet" })
    }

    /// Queues of messages, if it keeps any; otherwise [`Unsupported`](BackendError::Unsupported).
    fn pipelines(&self) -> Result<&dyn Pipelines, BackendError> {
        Err(BackendError::Unsupported { backend: self.name(), what: "run pipelines yet" })
    }

    /// Streams, if it keeps any; otherwise [`Unsupported`](BackendError::Unsupported).
    fn streams(&self) -> Result<&dyn Streams, BackendError> {
        Err(BackendError::Unsupported { backend: self.name(), what: "keep streams" })
    }

    /// Waits, if its tasks can wait; otherwise [`Unsupported`](BackendError::Unsupported).
    fn waits(&self) -> Result<&dyn Waits, BackendError> {
        Err(BackendError::Unsupported { backend: self.name(), what: "let tasks wait yet" })
    }

    /// Schedules, if it keeps any; otherwise [`Unsupported`](BackendError::Unsupported).
    fn schedules(&self) -> Result<&dyn Schedules, BackendError> {
        Err(BackendError::Unsupported { backend: self.name(), what: "keep schedules" })
    }

    /// Closes its connections.
    fn close(&self) -> Reply<'_, ()>;
}
