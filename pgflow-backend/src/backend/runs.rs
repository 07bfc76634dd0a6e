//! Runs: starting, ending, reading and deleting them.

use std::fmt;
use std::time::Duration;

use pgflow_machine::{Event, RunId};
use serde_json::Value;

use super::{
    Cancelled, NewRun, Parts, Reply, Retried, RunQuery, RunRecord, RunSummary, Started, narrow,
};

/// What a page of outputs has at most, about.
const OUTPUT_BYTES: u32 = 4 << 20;

/// Runs: starting, ending, reading and deleting them.
pub trait Runs: fmt::Debug + Send + Sync + 'static {
    /// Starts a run, and its first steps with it.
    fn start(&self, run: NewRun) -> Reply<'_, Started>;

    /// Ends a run before it is done.
    fn cancel<'a>(&'a self, run: RunId, reason: Option<&'a str>) -> Reply<'a, Cancelled>;

    /// Lets a failed run go on from what failed; completed steps and tasks are kept.
    fn retry(&self, run: RunId) -> Reply<'_, Retried>;

    /// A run, with as much as is asked for.
    fn run(&self, run: RunId, parts: Parts) -> Reply<'_, Option<RunRecord>>;

    /// How runs are doing, in any order; without those that are not there. It reads no payload, however large.
    fn statuses<'a>(&'a self, runs: &'a [RunId]) -> Reply<'a, Vec<RunSummary>> {
        Box::pin(narrow::statuses(self, runs))
    }

    /// What a run was given.
    fn input(&self, run: RunId) -> Reply<'_, Option<Value>> {
        Box::pin(narrow::input(self, run))
    }

    /// What the tasks of a completed step put out, from this index on: a page of bounded size, with one of
    /// them at least while there are any. For a map these are the elements of the step's output, for a single step it is the output.
    fn outputs<'a>(&'a self, run: RunId, step: &'a str, first: u32) -> Reply<'a, Vec<Value>> {
        self.outputs_within(run, step, first, OUTPUT_BYTES)
    }

    /// The same, and no more of them than make up about so many bytes: for those who show the beginning.
    fn outputs_within<'a>(
        &'a self,
        run: RunId,
        step: &'a str,
        first: u32,
        bytes: u32,
    ) -> Reply<'a, Vec<Value>> {
        Box::pin(narrow::outputs(self, run, step, first, bytes))
    }

    /// Runs, the newest first.
    fn list<'a>(&'a self, query: &'a RunQuery) -> Reply<'a, Vec<RunSummary>>;

    /// Up to `max` events of a run after number `after`, in order: as many as have [`EVENT_BYTES`] of payloads, and one
    /// at least while there are any.
    ///
    /// [`EVENT_BYTES`]: pgflow_machine::EVENT_BYTES
    fn events(&self, run: RunId, after: u64, max: u32) -> Reply<'_, Vec<Event>>;

    /// Deletes up to `max` runs that ended longer ago than this, with everything of theirs, and says how many:
    /// fewer than `max` if there are no more for now. Never one that goes on.
    fn prune(&self, older_than: Duration, max: u32) -> Reply<'_, u64>;
}
