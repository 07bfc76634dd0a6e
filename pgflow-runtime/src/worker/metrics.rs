//! Names of what a worker counts, with the crate `metrics`.

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

/// Claims that were answered.
pub(super) const CLAIMS: &str = "pgflow_claims_total";
/// Tasks that were claimed, by `flow`.
pub(super) const CLAIMED: &str = "pgflow_tasks_claimed_total";
/// Attempts that ended, by `flow`, `step` and `outcome`: completed, failed, released or dropped.
pub(super) const ATTEMPTS: &str = "pgflow_attempts_total";
/// How long a handler took, in seconds, by `flow` and `step`.
pub(super) const HANDLER_SECONDS: &str = "pgflow_handler_seconds";
/// What became of results, by `outcome`: `applied`, `already_settled`, `fenced`, `run_ended` or `unknown`.
pub(super) const SETTLES: &str = "pgflow_settles_total";
/// Results per trip to the database.
pub(super) const BATCH: &str = "pgflow_settle_batch";
/// How long a trip to the database took, in seconds, by `kind`: claim or settle.
pub(super) const TRIP_SECONDS: &str = "pgflow_trip_seconds";
/// Handlers that run.
pub(super) const RUNNING: &str = "pgflow_running";
/// Attempts that blocked their thread for a second, by `flow` and `step`.
pub(super) const BLOCKED: &str = "pgflow_blocking_attempts_total";
/// Heartbeats, by `answer`: extended, lost or cancelled.
pub(super) const HEARTBEATS: &str = "pgflow_heartbeats_total";
/// Tasks of lost workers that a sweep queued again.
pub(super) const REQUEUED: &str = "pgflow_requeued_total";
/// Tasks of claims whose answer got lost, given back.
pub(super) const GIVEN_BACK: &str = "pgflow_given_back_total";
/// Jobs that have lost too many workers in a row, as the last sweep has seen them, up to a hundred.
pub(super) const IN_CONCERN: &str = "pgflow_jobs_in_concern";
/// Calls that the database did not answer, by `doing`.
pub(super) const DATABASE_ERRORS: &str = "pgflow_database_errors_total";
/// Runs that have not ended, by `flow`: its version.
pub(super) const OPEN_RUNS: &str = "pgflow_open_runs";
/// Their tasks that wait or are being worked on, by `flow`.
pub(super) const OPEN_TASKS: &str = "pgflow_open_tasks";
/// How long the oldest of those has been there, in seconds, by `flow`.
pub(super) const OLDEST_SECONDS: &str = "pgflow_oldest_task_seconds";

/// Messages of an attempt, by `pipeline`.
pub(super) const BATCH_SIZE: &str = "pgflow_batch_size";
/// How long the oldest message of an attempt could have been taken, in seconds, by `pipeline`.
pub(super) const BATCH_WAIT: &str = "pgflow_batch_wait_seconds";
/// Batches, by `pipeline` and `trigger`: size, bytes, timeout or drain.
pub(super) const BATCH_TRIGGERS: &str = "pgflow_batch_trigger_total";
/// Messages whose last attempt failed, by `pipeline`.
pub(super) const DEAD: &str = "pgflow_dead_total";

/// How long what holds a resource could have been taken before, in seconds, by `pipeline` and `resource`.
pub(super) const RESOURCE_WAIT: &str = "pgflow_resource_wait_seconds";
/// How long what took a token of a rate could have been taken before, in seconds, by `pipeline` and `rate`.
pub(super) const RATE_WAIT: &str = "pgflow_rate_wait_seconds";
/// Messages that wait, by `queue`.
pub(super) const QUEUE_DEPTH: &str = "pgflow_queue_depth";
/// How long the first in line of a queue could have been taken, in seconds, by `queue`.
pub(super) const QUEUE_OLDEST: &str = "pgflow_queue_oldest_seconds";

/// Counts messages that were claimed.
pub(crate) fn claimed(
    pipeline: &'static str,
    stage: &pgflow_machine::permit::Stage,
    batch: &crate::backend::ClaimedBatch,
) {
    for resource in batch.fences.keys() {
        let resource = resource.clone();
        ::metrics::histogram!(RESOURCE_WAIT, "pipeline" => pipeline, "resource" => resource)
            .record(batch.waited);
    }
    for rate in &stage.rates {
        let rate = rate.clone();
        ::metrics::histogram!(RATE_WAIT, "pipeline" => pipeline, "rate" => rate)
            .record(batch.waited);
    }
    if let Some(trigger) = batch.trigger {
        let (size, trigger) = (gauged(batch.messages.len()), trigger.word());
        ::metrics::histogram!(BATCH_SIZE, "pipeline" => pipeline).record(size);
        ::metrics::histogram!(BATCH_WAIT, "pipeline" => pipeline).record(batch.waited);
        ::metrics::counter!(BATCH_TRIGGERS, "pipeline" => pipeline, "trigger" => trigger)
            .increment(1);
    }
}

/// Counts a message whose last attempt failed.
pub(crate) fn dead(pipeline: &'static str) {
    ::metrics::counter!(DEAD, "pipeline" => pipeline).increment(1);
}

/// Describes all metrics to the recorder.
pub(super) fn describe() {
    describe_counter!(CLAIMS, "Claims that were answered");
    describe_counter!(CLAIMED, "Tasks that were claimed");
    describe_counter!(ATTEMPTS, "Attempts that ended, by how");
    describe_histogram!(HANDLER_SECONDS, Unit::Seconds, "How long a handler took");
    describe_counter!(SETTLES, "What became of results");
    describe_histogram!(BATCH, Unit::Count, "Results per trip to the database");
    describe_histogram!(TRIP_SECONDS, Unit::Seconds, "How long a trip to the database took");
    describe_gauge!(RUNNING, Unit::Count, "Handlers that run");
    describe_counter!(BLOCKED, "Attempts that blocked a thread of the worker");
    describe_counter!(HEARTBEATS, "Heartbeats, by their answer");
    describe_counter!(REQUEUED, "Tasks of lost workers that were queued again");
    describe_counter!(GIVEN_BACK, "Tasks of claims whose answer got lost, given back");
    describe_gauge!(IN_CONCERN, Unit::Count, "Jobs that have lost too many workers in a row");
    describe_counter!(DATABASE_ERRORS, "Calls that the database did not answer");
    describe_histogram!(BATCH_SIZE, Unit::Count, "Messages of a batch");
    describe_histogram!(
        BATCH_WAIT,
        Unit::Seconds,
        "How long the oldest message of a batch was ready before it was claimed"
    );
    describe_counter!(BATCH_TRIGGERS, "Batches, by why they were formed");
    describe_counter!(DEAD, "Messages whose last attempt failed");
    describe_histogram!(RESOURCE_WAIT, Unit::Seconds, "How long what holds a resource waited");
    describe_histogram!(RATE_WAIT, Unit::Seconds, "How long what took a token of a rate waited");
    describe_gauge!(QUEUE_DEPTH, Unit::Count, "Messages that wait");
    describe_gauge!(QUEUE_OLDEST, Unit::Seconds, "How long the first in line of a queue waits");
    crate::backend::describe_ended();
    describe_gauge!(OPEN_RUNS, Unit::Count, "Runs that have not ended");
    describe_gauge!(OPEN_TASKS, Unit::Count, "Tasks that wait or are being worked on");
    describe_gauge!(OLDEST_SECONDS, Unit::Seconds, "How long the oldest open task has been there");
}

/// A number of things as metrics take it.
pub(super) fn gauged(count: usize) -> f64 {
    u32::try_from(count).unwrap_or(u32::MAX).into()
}
