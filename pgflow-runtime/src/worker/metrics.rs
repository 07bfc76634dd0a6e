//! Names of what a worker counts, with the crate `metrics`.

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
/// Heartbeats, by `answer`: extended, lost or cancelled.
pub(super) const HEARTBEATS: &str = "pgflow_heartbeats_total";
/// Tasks of lost workers that a sweep queued again.
pub(super) const REQUEUED: &str = "pgflow_requeued_total";
/// Tasks of claims whose answer got lost, given back.
pub(super) const GIVEN_BACK: &str = "pgflow_given_back_total";
/// Calls that the database did not answer, by `doing`.
pub(super) const DATABASE_ERRORS: &str = "pgflow_database_errors_total";

/// A number of things as metrics take it.
pub(super) fn gauged(count: usize) -> f64 {
    u32::try_from(count).unwrap_or(u32::MAX).into()
}
