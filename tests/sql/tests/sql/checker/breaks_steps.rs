//! Steps.

use super::bench::{Break, each_is_reported};

pub(super) const BREAKS: &[Break] = &[
    ("step_orphan", "delete from pgflow.runs where run_id = :done"),
    (
        "step_orphan",
        "insert into pgflow.step_states (flow_slug, run_id, step_slug) values ('f', :live, 'never_defined')",
    ),
    (
        "step_deps_counter",
        "update pgflow.step_states set remaining_deps = 1 where run_id = :live and step_slug = 'z'",
    ),
    (
        "step_deps_counter",
        "update pgflow.step_states set remaining_deps = 1 where run_id = :done and step_slug = 'z'",
    ),
    (
        "step_tasks_counter",
        "update pgflow.step_states set remaining_tasks = 2 where run_id = :live and step_slug = 'm'",
    ),
    (
        "step_tasks_counter",
        "update pgflow.step_states set remaining_tasks = 0 where run_id = :live and step_slug = 'm'",
    ),
    (
        "step_tasks_number",
        "update pgflow.step_states set initial_tasks = 3 where run_id = :live and step_slug = 'm'",
    ),
    (
        "step_tasks_number",
        "insert into pgflow.step_tasks (flow_slug, run_id, step_slug, task_index) values ('f', :live, 'z', 0)",
    ),
    (
        "step_ready_but_idle",
        "update pgflow.step_states set remaining_deps = 0 where run_id = :live and step_slug = 'z'",
    ),
    (
        "step_output",
        "update pgflow.step_states set output = '[\"m1\", \"m0\"]' where run_id = :done and step_slug = 'm'",
    ),
    (
        "step_output",
        "update pgflow.step_states set output = '[\"m0\"]' where run_id = :done and step_slug = 'm'",
    ),
    (
        "step_output",
        "update pgflow.step_states set output = null where run_id = :done and step_slug = 'a'",
    ),
    (
        "step_output",
        "update pgflow.step_tasks set output = '7' where run_id = :done and step_slug = 'a'",
    ),
    ("step_missing", "delete from pgflow.step_states where run_id = :done and step_slug = 'm'"),
    (
        "step_tasks_planned",
        "update pgflow.step_states set initial_tasks = 1 where run_id = :live and step_slug = 'm'",
    ),
    (
        "step_times",
        "update pgflow.step_states set completed_at = null where run_id = :done and step_slug = 'a'",
    ),
    (
        "step_times",
        "update pgflow.step_states set failed_at = null where run_id = :failed and step_slug = 'z'",
    ),
    (
        "step_times",
        "update pgflow.step_states set created_at = created_at - interval '1 s' where run_id = :live",
    ),
    (
        "step_output_bytes",
        "update pgflow.step_states set output_bytes = 1 where run_id = :done and step_slug = 'z'",
    ),
    (
        "step_skip_reason",
        "update pgflow.step_states set status = 'skipped', skip_reason = 'mood', remaining_tasks = null where run_id = :live and step_slug = 'z'",
    ),
    (
        "step_error",
        "update pgflow.step_states set error_message = 'bang' where run_id = :failed and step_slug = 'z'",
    ),
    (
        "step_error",
        "update pgflow.step_states set error_message = 'boom' where run_id = :done and step_slug = 'z'",
    ),
    (
        "step_tasks_number",
        "update pgflow.step_tasks set task_index = 5 where run_id = :done and step_slug = 'm' and task_index = 1",
    ),
];

#[tokio::test]
async fn broken_steps_are_reported() {
    each_is_reported(BREAKS).await;
}
