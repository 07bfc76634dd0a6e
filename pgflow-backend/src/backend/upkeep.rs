//! What people who look after a database need: what is there, who works, how it is doing.

mod checkup;
mod flows;
mod runs;
mod served;
mod statistics;
mod workers;

use std::fmt;
use std::time::Duration;

use pgflow_machine::{RunId, Timestamp};
use serde_json::Value;

pub use checkup::{Checkup, Fact, Finding, SchemaState, Severity};
pub use flows::{Definition, FlowRecord, QueueDepth};
pub use runs::{StepTimes, TaskQuery, TaskRecord};
pub use statistics::{Activity, Ended, Minute, Sample, StepStatistics};
pub use workers::{WorkerCard, WorkerQuery, WorkerRecord};

use super::{Reply, RunSummary};

/// Looking after a database: the part of the contract that commands and dashboards are built on.
///
/// Nothing here decides anything about a run. Every answer is bounded: lists come in pages, statistics look at the
/// newest runs only.
pub trait Upkeep: fmt::Debug + Send + Sync + 'static {
    /// Which schema the database has: the cheapest question there is.
    fn schema(&self) -> Reply<'_, SchemaState>;

    /// What time it is for the database.
    fn now(&self) -> Reply<'_, Timestamp>;

    /// Every version of every flow, by name and number.
    fn flows(&self) -> Reply<'_, Vec<FlowRecord>>;

    /// What the database knows of a version, by its slug.
    fn definition<'a>(&'a self, version: &'a str) -> Reply<'a, Option<Definition>>;

    /// Notes the JSON Schema of what a version's runs are given. The last word counts; of a version that is not there
    /// nothing is noted.
    fn set_input_schema<'a>(&'a self, version: &'a str, schema: &'a Value) -> Reply<'a, ()>;

    /// What waits and what is being worked on, per version, by slug. A version that has nothing to do is there too.
    fn queues(&self) -> Reply<'_, Vec<QueueDepth>>;

    /// Up to `max` runs whose ids are not before `first` and not after `last`, by id.
    fn between(&self, first: RunId, last: RunId, max: u32) -> Reply<'_, Vec<RunSummary>>;

    /// When the steps of a run began and ended, in the order of the flow; nothing if there is no such run.
    fn step_times(&self, run: RunId) -> Reply<'_, Vec<StepTimes>>;

    /// Tasks of a step, by index.
    fn tasks<'a>(
        &'a self,
        run: RunId,
        step: &'a str,
        query: &'a TaskQuery,
    ) -> Reply<'a, Vec<TaskRecord>>;

    /// A worker is about to begin. From here on its sweeps say that it is alive, until it
    /// [signs off](super::Work::sign_off).
    fn sign_on<'a>(&'a self, worker: &'a WorkerCard) -> Reply<'a, ()>;

    /// Workers, the newest id first.
    fn workers<'a>(&'a self, query: &'a WorkerQuery) -> Reply<'a, Vec<WorkerRecord>>;

    /// How the steps of a version did, in its newest runs (a thousand at most) that began in this window.
    fn step_statistics<'a>(
        &'a self,
        version: &'a str,
        window: Duration,
    ) -> Reply<'a, Vec<StepStatistics>>;

    /// What became of the newest runs (20,000 at most) that began in this window, minute by minute: of all versions of
    /// these flows, or of all flows if none is named.
    fn activity<'a>(&'a self, flows: &'a [String], window: Duration) -> Reply<'a, Activity>;

    /// How many runs [`prune`](super::Runs::prune) could delete, counted up to `max`.
    fn prunable(&self, older_than: Duration, max: u64) -> Reply<'_, u64>;

    /// Looks for anything that cannot be, and for jobs that wait for one in crash concern: a sentence each, none when all is
    /// well. Reads everything, so it is for an operator's doubts, not for a timer.
    fn check(&self) -> Reply<'_, Vec<String>>;

    /// How the database itself is doing, as far as this login may know. An answer also if the schema is missing, older
    /// or newer.
    fn checkup(&self) -> Reply<'_, Checkup>;
}
