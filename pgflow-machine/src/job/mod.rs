//! Jobs: work that carries only what it needs next.
//!
//! | file | what is decided there |
//! |---|---|
//! | `submit` | which new jobs there are, and which are refused |
//! | `claim` | what a claim takes, of candidates that a store has found |
//! | `beat`, `settle` | what a worker says about what it holds |
//! | `cancel`, `operator`, `redrive` | what people do |
//! | `upkeep` | lapsed leases, jobs that expire, jobs that wake |
//! | `waits` | who waits for whom, how an end is passed on, rings |
//! | `keys` | who has a key, and who is the next in its line |
//!
//! Each transition is a [`Command`](crate::Command) of the domain [`Jobs`]. A store asks
//! [`more`](crate::Command::more) again until nothing new is needed ([`JobRows::missing`]), because an end may end others.
//!
//! ```
//! use pgflow_machine::job::{JobRows, JobSettings, JobStatus, NewJob, Submit, Submitted};
//! use pgflow_machine::{Command, Limits, Timestamp};
//! use serde_json::json;
//!
//! let jobs = [NewJob::new("inv-42".parse()?, "invoice.ingest", json!({ "pages": 3 }))];
//! let submit = Submit { jobs: &jobs, by: "billing", limits: Limits::default() };
//! let mut rows = JobRows::new(JobSettings::default());
//! let now = Timestamp::from_micros(1_800_000_000_000_000);
//! let (answers, writes) = submit.decide(&mut rows, now)?;
//! assert_eq!(answers, [Ok(Submitted::Submitted)]);
//! assert_eq!(writes.inserted, [jobs[0].id.clone()]);
//! assert_eq!(rows.jobs[&jobs[0].id].status(now), JobStatus::Ready);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod beat;
mod cancel;
mod claim;
mod dependency;
mod id;
mod keys;
mod operator;
mod problem;
mod redrive;
mod rings;
mod row;
mod rows;
mod settle;
mod submit;
#[cfg(test)]
mod tests;
mod trace;
mod transition;
mod upkeep;
mod verdict;
mod waits;
mod writes;

pub use beat::{BeatJobs, HoldsJob};
pub use cancel::{CancelJobs, JobCancelled};
pub use claim::{JobClaim, ReadyJob, TakeJobs, TakenJob, fitting};
pub use dependency::{Dependency, Policy, Wait};
pub use id::{InvalidJobId, JobId, JobToken, MAX_NAME};
pub use operator::{ClearConcern, ConcernCleared, Operate, Operated, Unheld};
pub use problem::{JobProblem, check_name};
pub use redrive::{Redrive, Redriven};
pub use rings::{RING_EDGES, rings};
pub use row::{Asked, JobLease, JobOutcome, JobRow, JobSettings, JobState, JobStatus, Seq};
pub use rows::{ArchivedJob, JobNeeds, JobRows, Jobs};
pub use settle::SettleJobs;
pub(crate) use submit::MOMENTS;
pub use submit::{LONGEST, Moment, NewJob, Submit, Submitted};
pub use trace::{TraceEntry, TraceKind};
pub use upkeep::{ExpireJobs, JudgeStreaks, LapseJobs, Lapses, RunsEnded, WakeJobs};
pub use verdict::{
    HandOver, JobBeat, JobEnd, JobHold, JobRetry, JobSettle, JobSettled, JobVerdict,
};
pub use waits::RING_WALK;
pub use writes::{ArchiveWrite, Edge, JobWrites};
