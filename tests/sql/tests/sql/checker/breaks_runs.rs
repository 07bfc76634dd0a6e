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
    (
        "run_failure",
        "update pgflow.step_states set status = 'failed', remaining_tasks = 2 where run_id = :live and step_slug = 'm'",
    ),
    ("run_output", "update pgflow.runs set output = '{}' where run_id = :failed"),
    ("run_times", "update pgflow.runs set completed_at = null where run_id = :done"),
    ("run_times", "update pgflow.runs set failed_at = null where run_id = :failed"),
    ("run_times", "update pgflow.runs set cancelled_at = null where run_id = :cancelled"),
    (
        "run_times",
        "update pgflow.runs set completed_at = completed_at + interval '9 years' where run_id = :done",
    ),
    ("run_reason", "update pgflow.runs set cancel_reason = 'why' where run_id = :done"),
    ("run_waits_for_nothing", "delete from pgmq.q_f where message ->> 'run_id' = :live::text"),
    ("definition_deps", "update pgflow.steps set deps_count = 2 where step_slug = 'm'"),
    ("definition_order", "update pgflow.steps set step_index = 9 where step_slug = 'z'"),
    ("definition_order", "update pgflow.steps set step_index = 9 where step_slug = 'a'"),
    (
        "definition_feeds_map",
        "update pgflow.steps set feeds_map = not feeds_map where step_slug = 'a'",
    ),
    ("definition_queue", "drop table pgmq.q_f"),
    ("definition_limits", "delete from pgflow.limits"),
];

#[tokio::test]
async fn broken_runs_are_reported() {
    each_is_reported(BREAKS).await;
}
