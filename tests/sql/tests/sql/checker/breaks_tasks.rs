//! Tasks.

use super::bench::{Break, each_is_reported};

pub(super) const BREAKS: &[Break] = &[
    ("task_orphan", "delete from pgflow.step_states where run_id = :done and step_slug = 'm'"),
    (
        "task_orphan",
        "update pgflow.step_tasks set flow_slug = 'g' where run_id = :done and step_slug = 'a'",
    ),
    (
        "task_worker",
        "update pgflow.step_tasks set last_worker_id = gen_random_uuid() where run_id = :live",
    ),
    (
        "task_attempts",
        "update pgflow.step_tasks set attempts_count = 0 where run_id = :done and step_slug = 'z'",
    ),
    (
        "task_refunds",
        "update pgflow.step_tasks set refunded_count = attempts_count where run_id = :done and step_slug = 'z'",
    ),
    ("task_refunds", "update pgflow.step_tasks set refunded_count = -1 where run_id = :live"),
    (
        "task_times",
        "update pgflow.step_tasks set completed_at = null where run_id = :done and step_slug = 'z'",
    ),
    (
        "task_times",
        "update pgflow.step_tasks set status = 'queued' where run_id = :live and step_slug = 'm' and status = 'started'",
    ),
    (
        "task_times",
        "update pgflow.step_tasks set started_at = null where run_id = :live and status = 'started'",
    ),
    (
        "task_times",
        "update pgflow.step_tasks set failed_at = null where run_id = :failed and step_slug = 'z'",
    ),
    (
        "task_times",
        "update pgflow.step_tasks set started_at = null where run_id = :done and step_slug = 'z'",
    ),
    (
        "task_requeues",
        "update pgflow.step_tasks set requeued_count = 1 where run_id = :done and step_slug = 'z'",
    ),
    (
        "task_stalled",
        "update pgflow.step_tasks set permanently_stalled_at = now() where run_id = :live and status = 'started'",
    ),
    (
        "task_failure",
        "update pgflow.step_tasks set status = 'failed', failed_at = now() where run_id = :live and status = 'started'",
    ),
    (
        "task_output",
        "update pgflow.step_tasks set output = '1' where run_id = :failed and step_slug = 'z'",
    ),
    (
        "task_input",
        "update pgflow.step_tasks set input = '1' where run_id = :done and step_slug = 'a'",
    ),
    (
        "task_input",
        "update pgflow.step_tasks set input = '1' where run_id = :live and status = 'started'",
    ),
];

#[tokio::test]
async fn broken_tasks_are_reported() {
    each_is_reported(BREAKS).await;
}
