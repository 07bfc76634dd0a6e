//! Schedules: runs that start by the clock.
//!
//! | file | what is decided there |
//! |---|---|
//! | `row` | what a schedule is, and where it stands |
//! | `reading` | what becomes of a row that nobody can read |
//! | `put` | creating, replacing, pausing, resuming, removing |
//! | `fire` | which of the moments that have come start a run |
//! | `problem` | what is wrong with what a caller wants |
//!
//! When moments come is not decided here: a worker knows cron and time zones, and says which moments of a schedule have
//! come and which one is next. What it says counts only if the schedule is still as it saw it (`revision`), and only moments that are
//! over by the database's clock start a run. A run's id follows from schedule and moment, so that each starts once.
//!
//! ```
//! use pgflow_machine::schedule::{Fire, Given, Next, Schedule, ScheduleRows, ScheduleSpec};
//! use pgflow_machine::{Command, Timestamp};
//! use std::time::Duration;
//!
//! let created = Timestamp::from_micros(0);
//! let schedule = Schedule::new("nightly", ScheduleSpec::new("report", "0 3 * * *"), created);
//! let (due, now) = (created + Duration::from_secs(60), created + Duration::from_secs(61));
//! let next = Next::At(now + Duration::from_secs(60));
//! let fire = Fire { name: "nightly", revision: schedule.revision, due: &[due], next: &next, input: Given::Stored };
//! let mut rows = ScheduleRows { schedule: Some(schedule), ..ScheduleRows::default() };
//! let (fired, writes) = fire.decide(&mut rows, now)?;
//! assert_eq!(writes.starts.len(), 1);
//! assert_eq!(rows.schedule.and_then(|schedule| schedule.last_at), Some(due));
//! # let _ = fired;
//! # Ok::<(), pgflow_machine::Refusal>(())
//! ```

mod fire;
mod problem;
mod put;
mod reading;
mod row;
#[cfg(test)]
mod tests;

pub use fire::{Fire, Fired, Given, LATE, Next};
pub use pgflow_model::{InvalidPolicy, MOST_MISSED, Missed, Overlap};
pub use problem::ScheduleProblem;
pub use put::{PauseSchedule, Paused, Put, PutSchedule, RemoveSchedule, check_schedule};
pub use reading::Reading;
pub use row::{Origin, QUEUED_AT_MOST, Schedule, ScheduleSpec, ScheduleStatus, Tick};

use crate::{Domain, NewRun};

/// Schedules, one per command.
#[derive(Clone, Copy, Debug)]
pub enum Schedules {}

impl Domain for Schedules {
    type Needs = ScheduleNeeds;
    type Rows = ScheduleRows;
    type Writes<'c> = ScheduleWrites;
}

/// Rows to load: the schedule, locked, and then how its last run is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScheduleNeeds {
    /// Which schedule.
    pub name: String,
}

/// Rows that were loaded, and as they are to be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScheduleRows {
    /// The schedule, if it is there.
    pub schedule: Option<Schedule>,
    /// The last run that it started goes on.
    pub is_running: bool,
}

/// What to write.
#[derive(Debug, Default)]
pub struct ScheduleWrites {
    /// The row changed: it is written as it is in the rows, or deleted if it is not there any more.
    pub schedule: bool,
    /// Runs to start, in this order, in the same transaction.
    pub starts: Vec<NewRun>,
}
