//! Runs.

use super::bench::{Break, each_is_reported};

pub(super) const BREAKS: &[Break] = &[
    (
        "run_counter",
        "update pgflow.runs set remaining_steps = remaining_steps + 1 where run_id = :live",
    ),
    ("run_counter", "update pgflow.runs set remaining_steps = 0 where run_id = :failed"),
    ("run_counter", "update pgflow.runs set remaining_steps = 1 where run_id = :done"),
    (
        "run_completion",
        "update pgflow.runs set status = 'started', completed_at = null, output = null where run_id = :done",
    ),
    (
        "run_completion",
        "update pgflow.runs set status = 'completed', completed_at = now() where run_id = :live",
    ),
    (
        "run_failure",
        "update pgflow.runs set status = 'failed', failed_at = now() where run_id = :live",
    ),
    ("run_output", "update pgflow.runs set output = '{\"z\": 2}' where run_id = :done"),
    ("run_output", "update pgflow.runs set output = null where run_id = :done"),
];

#[tokio::test]
async fn broken_runs_are_reported() {
    each_is_reported(BREAKS).await;
}
