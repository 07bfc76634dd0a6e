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
];

#[tokio::test]
async fn broken_steps_are_reported() {
    each_is_reported(BREAKS).await;
}
