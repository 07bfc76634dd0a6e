//! Names of constraints are API.

use crate::harness::Db;

const NAMES: &[(&str, &[&str])] = &[
    (
        "flows",
        &[
            "flows_pkey",
            "slug_is_valid",
            "opt_max_attempts_is_nonnegative",
            "opt_base_delay_is_nonnegative",
            "opt_timeout_is_positive",
        ],
    ),
    (
        "steps",
        &[
            "steps_pkey",
            "steps_flow_slug_step_index_key",
            "steps_flow_slug_fkey",
            "steps_step_slug_check",
            "steps_step_type_check",
            "steps_deps_count_check",
            "opt_max_attempts_is_nonnegative",
            "opt_base_delay_is_nonnegative",
            "opt_timeout_is_positive",
            "opt_start_delay_is_nonnegative",
            "required_input_pattern_is_object",
            "forbidden_input_pattern_is_object",
            "when_unmet_is_valid",
            "when_exhausted_is_valid",
        ],
    ),
    (
        "deps",
        &[
            "deps_pkey",
            "deps_flow_slug_fkey",
            "deps_flow_slug_dep_slug_fkey",
            "deps_flow_slug_step_slug_fkey",
            "deps_check",
        ],
    ),
    (
        "runs",
        &[
            "runs_pkey",
            "runs_flow_slug_fkey",
            "status_is_valid",
            "runs_remaining_steps_check",
            "completed_at_or_failed_at",
        ],
    ),
    (
        "step_states",
        &[
            "step_states_pkey",
            "status_is_valid",
            "step_states_initial_tasks_check",
            "step_states_remaining_deps_check",
            "status_and_remaining_tasks_match",
            "remaining_tasks_state_consistency",
            "initial_tasks_known_when_started",
            "output_only_for_completed_or_null",
            "skip_reason_matches_status",
            "completed_at_or_failed_at_or_skipped_at",
            "started_at_is_after_created_at",
            "completed_at_is_after_started_at",
            "failed_at_is_after_started_at",
            "skipped_at_is_after_created_at",
        ],
    ),
    (
        "step_tasks",
        &[
            "step_tasks_pkey",
            "valid_status",
            "attempts_count_nonnegative",
            "output_valid_only_for_completed",
            "completed_at_or_failed_at",
        ],
    ),
];

#[tokio::test]
async fn every_documented_constraint_is_there() {
    let db = Db::new().await;
    for (table, names) in NAMES {
        let found = format!(
            "select conname from pg_constraint where conrelid = 'pgflow.{table}'::regclass"
        );
        let found = db.rows(&found).await;
        for name in *names {
            assert!(found.iter().any(|row| row == name), "pgflow.{table} has no {name}: {found:?}");
        }
    }
}

#[tokio::test]
async fn every_key_has_its_columns() {
    let db = Db::new().await;
    let keys = "select conname, pg_get_constraintdef(oid) from pg_constraint
        where connamespace = 'pgflow'::regnamespace and contype in ('p', 'u') order by 1";
    let found = db.rows(keys).await;
    for key in [
        "deps_pkey|PRIMARY KEY (flow_slug, dep_slug, step_slug)",
        "flows_pkey|PRIMARY KEY (flow_slug)",
        "runs_pkey|PRIMARY KEY (run_id)",
        "step_states_pkey|PRIMARY KEY (run_id, step_slug)",
        "step_tasks_pkey|PRIMARY KEY (run_id, step_slug, task_index)",
        "steps_flow_slug_step_index_key|UNIQUE (flow_slug, step_index)",
        "steps_pkey|PRIMARY KEY (flow_slug, step_slug)",
        "workers_pkey|PRIMARY KEY (worker_id)",
    ] {
        assert!(found.iter().any(|row| row == key), "{key} is not in {found:#?}");
    }
}
