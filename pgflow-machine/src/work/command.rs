//! Commands: what they look at, and what they leave to be written.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Lease, Rows, RunRow, TaskKey, TaskRef, TaskRow};
use crate::{Change, Output, Payload, Refusal, RunId, RunStatus, Timestamp, Turn};

/// A transition. A store executes it in one transaction: load what it [`needs`](Self::needs), then what
/// [`more`](Self::more) it needs, [`decide`](Self::decide), write.
///
/// ```
/// use pgflow_machine::{Cancel, Cancelled, Command, Rows, RunId, Timestamp};
///
/// let cancel = Cancel { run: RunId::from_key("orders", "7"), reason: None };
/// assert!(cancel.needs().runs.contains(&cancel.run));
/// let nothing_there = &mut Rows::default();
/// let (answer, writes) = cancel.decide(nothing_there, Timestamp::default())?;
/// assert_eq!(answer, Cancelled::Unknown);
/// assert!(writes.is_empty());
/// # Ok::<(), pgflow_machine::Refusal>(())
/// ```
pub trait Command<D: Domain = Flows> {
    /// What the caller is told.
    type Answer;

    /// Which rows it looks at.
    fn needs(&self) -> D::Needs;

    /// Which more, now that it has seen those.
    fn more(&self, _rows: &D::Rows) -> D::Needs {
        D::Needs::default()
    }

    /// What happens. Rows are changed in place; what is to be written is returned.
    fn decide<'c>(
        &'c self,
        rows: &mut D::Rows,
        now: Timestamp,
    ) -> Result<(Self::Answer, D::Writes<'c>), Refusal>;
}

/// What a kind of work consists of: the rows that its commands ask for, see, and leave to be written.
pub trait Domain {
    /// Rows to load.
    type Needs: Default;
    /// Rows that were loaded.
    type Rows;
    /// What to write.
    type Writes<'c>;
}

/// Runs of flows, their steps and tasks.
#[derive(Clone, Copy, Debug)]
pub enum Flows {}

impl Domain for Flows {
    type Needs = Needs;
    type Rows = Rows;
    type Writes<'c> = Writes<'c>;
}

/// Rows and payloads to load. What does not exist is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Runs with their steps: lock them in this order.
    pub runs: BTreeSet<RunId>,
    /// Tasks of those runs: lock them after the runs, in this order.
    pub tasks: BTreeSet<TaskKey>,
    /// Runs all of whose tasks are wanted that are started, waiting or failed.
    pub attempted: Vec<RunId>,
    /// Payloads of runs that are loaded.
    pub payloads: Vec<(RunId, Payload)>,
    /// Maps whose completed tasks' outputs are wanted.
    pub map_outputs: Vec<(RunId, usize)>,
    /// Steps of which it is wanted how many bytes they have put out so far.
    pub weights: Vec<(RunId, usize)>,
}

impl Needs {
    /// These runs.
    pub fn of_runs(runs: impl IntoIterator<Item = RunId>) -> Self {
        Self { runs: runs.into_iter().collect(), ..Self::default() }
    }

    /// These tasks and their runs.
    pub fn of_tasks<'t>(tasks: impl IntoIterator<Item = &'t TaskKey>) -> Self {
        let tasks: BTreeSet<_> = tasks.into_iter().cloned().collect();
        Self { tasks: tasks.clone(), ..Self::of_runs(tasks.iter().map(|task| task.run)) }
    }

    /// The tasks of these leases, and their runs.
    pub(crate) fn of_leases<'t>(leases: impl IntoIterator<Item = &'t Lease>) -> Self {
        Self::of_tasks(leases.into_iter().filter_map(Lease::task).map(|lease| &lease.task))
    }

    /// Whether there is nothing to load.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Outputs that conditions may ask for when these steps of a run end.
    pub(crate) fn conditions(&mut self, id: RunId, run: &RunRow, ending: &[usize]) {
        let (plan, state) = (&run.version.plan, &run.state);
        let stored = Turn::wanted(plan, state, ending)
            .into_iter()
            .filter(|step| state.steps[*step].output == Output::Stored);
        self.payloads.extend(stored.map(|step| (id, Payload::StepOutput(step))));
    }
}

/// What to write, in this order: new runs, reasons, tasks, then changes with their effects. The rows of runs and steps
/// are in the [`Rows`] that the command was decided on.
#[derive(Debug, Default)]
pub struct Writes<'c> {
    /// Runs to insert.
    pub started: Vec<NewRow<'c>>,
    /// Runs that were cancelled, and why.
    pub cancelled: Vec<(RunId, Option<&'c str>)>,
    /// Tasks that changed, each once.
    pub tasks: Vec<TaskWrite<'c>>,
    /// What changed in each run.
    pub changes: BTreeMap<RunId, Change>,
    /// Attempts that are over, of tasks that stay as they are because their steps had ended before: they hold nothing any more.
    pub given_up: Vec<(TaskRef, u32)>,
}

/// A run to insert.
#[derive(Clone, Copy, Debug)]
pub struct NewRow<'c> {
    /// Its id.
    pub run: RunId,
    /// What it is given.
    pub input: &'c Value,
}

/// A task's row as it is from now on.
#[derive(Clone, Debug)]
pub struct TaskWrite<'c> {
    /// Which one.
    pub at: TaskRef,
    /// The row. A queued task has no worker.
    pub row: TaskRow,
    /// What its attempt failed with; if nothing, what is there stays.
    pub error: Option<String>,
    /// Why its attempt was yielded; if nothing, what is there stays: it counts only for its attempt.
    pub yielded: Option<String>,
    /// What it put out; if nothing, what is there goes.
    pub output: Option<&'c Value>,
}

impl Writes<'_> {
    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.started.is_empty()
            && self.cancelled.is_empty()
            && self.tasks.is_empty()
            && self.changes.is_empty()
            && self.given_up.is_empty()
    }

    /// Runs in which something happened that others may wait for: events, or tasks that can be claimed.
    pub fn news(&self) -> BTreeSet<RunId> {
        let logged = self.changes.iter().filter(|(_, change)| !change.log.is_empty());
        let queued = self.tasks.iter().filter(|task| task.row.ready_at.is_some());
        logged.map(|(run, _)| *run).chain(queued.map(|task| task.at.run)).collect()
    }

    /// Runs that end with this, and how.
    pub fn ended(&self, rows: &Rows) -> Vec<(RunId, RunStatus)> {
        let changed = self.changes.iter().filter(|(_, change)| change.run);
        let status = |run: &RunId| Some((*run, rows.runs.get(run)?.state.status));
        let status = changed.filter_map(|(run, _)| status(run));
        status.filter(|(_, status)| status.has_ended()).collect()
    }

    /// Notes what a transition of a run changed.
    pub(crate) fn change(&mut self, run: RunId, change: Change) {
        self.changes.entry(run).or_default().merge(change);
    }
}
