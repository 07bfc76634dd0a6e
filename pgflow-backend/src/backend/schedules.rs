//! Schedules: the part of the contract about runs that start by the clock.

use pgflow_machine::Timestamp;
use pgflow_machine::schedule::{
    Fire, Fired, Origin, Paused, Put, Schedule, ScheduleProblem, ScheduleSpec,
};

use super::Reply;

/// A database that keeps schedules. Every method is one transaction.
///
/// | rule | |
/// |---|---|
/// | SC1 | a moment of a schedule starts one run at most, whose id follows from schedule and moment, by however many processes |
/// | SC2 | no moment starts a run before it is over by the database's clock |
/// | SC3 | what a worker found out counts only if the schedule is as the worker saw it: its revision is the fence |
/// | SC4 | runs and the schedule's row are written in one transaction |
/// | SC5 | `missed` and `overlap` decide which moments that have come start a run |
/// | SC6 | one that is paused starts nothing until it is resumed, whatever else is done with it; moments that came meanwhile are not made up for |
/// | SC7 | a start that is refused does not stop the schedule: its row says why |
/// | SC8 | the database keeps when the next moment is; a worker that knows cron and time zones finds it out |
/// | SC9 | a row that cannot be read is listed as broken, with its problem, and can be replaced and removed; it hides no others |
///
/// ```
/// use pgflow_backend::backend::{Backend, BackendError, NewSchedule, ScheduleQuery};
/// use pgflow_backend::memory::Memory;
/// use pgflow_machine::schedule::ScheduleSpec;
///
/// # pgflow::testing::block_on(async {
/// let memory = Memory::new();
/// let nightly = NewSchedule::new("nightly", ScheduleSpec::new("report", "0 3 * * *"));
/// let refused = memory.schedules()?.put_schedule(&nightly).await;
/// assert!(matches!(refused, Err(BackendError::UnknownFlow { .. })));
/// assert!(memory.schedules()?.list_schedules(&ScheduleQuery::default()).await?.is_empty());
/// # Ok::<(), BackendError>(())
/// # }).unwrap();
/// ```
pub trait Schedules: Send + Sync {
    /// Makes a schedule, or changes the one of this name.
    fn put_schedule<'a>(&'a self, new: &'a NewSchedule) -> Reply<'a, Result<Put, ScheduleProblem>>;

    /// Keeps a schedule from starting runs, or lets it start them again.
    fn pause_schedule<'a>(&'a self, name: &'a str, pause: bool) -> Reply<'a, Paused>;

    /// Removes a schedule, if it was made there, and says whether there was one. Runs that it started go on.
    fn remove_schedule<'a>(&'a self, name: &'a str, of: Option<Origin>) -> Reply<'a, bool>;

    /// Schedules, by name.
    fn list_schedules<'a>(&'a self, query: &'a ScheduleQuery) -> Reply<'a, Vec<Schedule>>;

    /// Schedules that a worker has something to do for, those that have waited longest first.
    fn due_schedules<'a>(&'a self, query: &'a DueQuery) -> Reply<'a, DueSchedules>;

    /// Starts runs of moments that have come, and notes which one is next.
    fn fire_schedule<'a>(&'a self, fire: &'a Fire<'a>) -> Reply<'a, Fired>;
}

/// A schedule to make.
#[derive(Clone, Debug, PartialEq)]
pub struct NewSchedule {
    /// Its name.
    pub name: String,
    /// What it starts, and when.
    pub spec: ScheduleSpec,
    /// Not before this moment, which must not be over.
    pub begins: Option<Timestamp>,
    /// Its first moment, if it is known; otherwise a worker finds it out.
    pub first_at: Option<Timestamp>,
}

impl NewSchedule {
    /// From now on.
    pub fn new(name: impl Into<String>, spec: ScheduleSpec) -> Self {
        Self { name: name.into(), spec, begins: None, first_at: None }
    }
}

/// Which schedules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleQuery {
    /// The one of this name.
    pub name: Option<String>,
    /// Those of this flow.
    pub flow: Option<String>,
    /// Those after this name.
    pub after: Option<String>,
    /// At most so many.
    pub max: u32,
}

impl Default for ScheduleQuery {
    fn default() -> Self {
        Self { name: None, flow: None, after: None, max: 1_000 }
    }
}

/// Which of those that are due.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DueQuery {
    /// Flows that the worker serves: of schedules that were made by the source of a flow, those of other flows are left to
    /// others.
    pub flows: Vec<String>,
    /// At most so many.
    pub max: u32,
}

impl DueQuery {
    /// Whether a schedule may be given to the worker.
    pub fn allows(&self, schedule: &Schedule) -> bool {
        schedule.spec.origin == Origin::Client || self.flows.contains(&schedule.spec.flow)
    }
}

/// Schedules that are due.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DueSchedules {
    /// What time it is, by the database's clock.
    pub now: Timestamp,
    /// They themselves.
    pub schedules: Vec<Schedule>,
    /// When the next of the others is due, if any is known to be.
    pub next_at: Option<Timestamp>,
}

impl DueSchedules {
    /// Without those whose rows nobody can read: no worker can do anything for them.
    #[must_use]
    pub fn readable(mut self) -> Self {
        self.schedules.retain(|schedule| !schedule.is_unreadable);
        self
    }
}
