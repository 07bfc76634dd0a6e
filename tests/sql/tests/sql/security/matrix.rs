//! Role × function: who may call what. A function without a decision fails the test.

use std::collections::BTreeMap;

use crate::harness::Db;

const CLIENT: u8 = 1;
const WORKER: u8 = 2;
const VIEWER: u8 = 4;
const UPKEEP: u8 = 8;
const OWNER_ONLY: u8 = 0;

/// Every function that is not internal (`_…`), and the internal ones that a role may call.
const DECISIONS: &[(&str, u8)] = &[
    ("_compare_flow_shapes", WORKER),
    ("_compare_step_shapes", WORKER),
    ("_event_payload", VIEWER),
    ("_get_flow_shape", WORKER),
    ("_pattern_shape", WORKER),
    ("add_flow_version", OWNER_ONLY),
    ("add_step", OWNER_ONLY),
    ("advance_schedule", CLIENT | WORKER),
    ("announce_hooks", WORKER),
    ("append_chunks", CLIENT | WORKER),
    ("append_step_chunks", WORKER),
    ("batch_messages", WORKER),
    ("beat_jobs", WORKER),
    ("calculate_retry_delay", OWNER_ONLY),
    ("cancel_abandoned", CLIENT | WORKER),
    ("cancel_jobs", CLIENT),
    ("cancel_run", CLIENT),
    ("cascade_complete_taskless_steps", OWNER_ONLY),
    ("cascade_resolve_conditions", OWNER_ONLY),
    ("check", OWNER_ONLY),
    ("claim_jobs", WORKER),
    ("claim_messages", WORKER),
    ("claim_tasks", WORKER),
    ("clear_concern", UPKEEP),
    ("close_step_stream", WORKER),
    ("close_stream", CLIENT | WORKER),
    ("complete_task", WORKER),
    ("complete_tasks", WORKER),
    ("complete_unheld_jobs", UPKEEP),
    ("configure_flow", OWNER_ONLY),
    ("count_jobs", VIEWER),
    ("count_prunable_jobs", UPKEEP | VIEWER),
    ("count_prunable_runs", UPKEEP | VIEWER),
    ("create_flow", OWNER_ONLY),
    ("create_schedule", CLIENT | WORKER),
    ("current_flow", OWNER_ONLY),
    ("delete_flow_and_data", OWNER_ONLY),
    ("drop_dead_jobs", UPKEEP),
    ("due_schedules", CLIENT | WORKER),
    ("end_messages", WORKER),
    ("ended_runs", CLIENT | WORKER),
    ("ensure_flow_compiled", WORKER),
    ("expect_steps", OWNER_ONLY),
    ("fail_jobs", WORKER),
    ("fail_task", WORKER),
    ("fail_tasks", WORKER),
    ("find_jobs", CLIENT | UPKEEP | VIEWER),
    ("find_jobs_by_name", CLIENT | UPKEEP | VIEWER),
    ("finish_jobs", WORKER),
    ("get_activity", VIEWER),
    ("get_flow_definition", CLIENT | VIEWER),
    ("get_flow_versions", WORKER | VIEWER),
    ("get_flows", CLIENT | VIEWER),
    ("get_job_depths", VIEWER),
    ("get_job_holders", VIEWER),
    ("get_job_waiters", VIEWER),
    ("get_job_summaries", CLIENT | UPKEEP | VIEWER),
    ("get_job_settings", CLIENT | UPKEEP | VIEWER),
    ("get_jobs", CLIENT | WORKER | UPKEEP | VIEWER),
    ("get_message", CLIENT | UPKEEP | VIEWER),
    ("get_queue_depths", VIEWER),
    ("get_run", CLIENT | VIEWER),
    ("get_run_input", CLIENT | WORKER | VIEWER),
    ("get_run_progress", CLIENT | VIEWER),
    ("get_run_statuses", CLIENT | VIEWER),
    ("get_run_steps", CLIENT | VIEWER),
    ("get_run_with_states", CLIENT | VIEWER),
    ("get_runs_between", CLIENT | VIEWER),
    ("get_step_outputs", CLIENT | VIEWER | WORKER),
    ("get_step_statistics", VIEWER),
    ("get_step_times", CLIENT | VIEWER),
    ("grant_roles", OWNER_ONLY),
    ("heartbeat", WORKER),
    ("give_up_holds", WORKER),
    ("hold_for_tasks", WORKER),
    ("hold_permits", WORKER),
    ("holds_job", WORKER),
    ("holds_task", WORKER),
    ("is_valid_slug", OWNER_ONLY),
    ("keep_messages", CLIENT | WORKER),
    ("lease_messages", WORKER),
    ("list_jobs", CLIENT | UPKEEP | VIEWER),
    ("list_paused_needs", CLIENT | UPKEEP | VIEWER),
    ("list_permits", CLIENT | UPKEEP | VIEWER),
    ("list_runs", CLIENT | VIEWER),
    ("list_schedules", CLIENT | VIEWER | WORKER),
    ("list_streams", CLIENT | UPKEEP | VIEWER),
    ("list_tasks", CLIENT | VIEWER),
    ("list_waits", CLIENT | VIEWER),
    ("count_late_waits", CLIENT | VIEWER),
    ("list_workers", VIEWER),
    ("load_holds", CLIENT | WORKER | UPKEEP),
    ("load_permits", CLIENT | WORKER | UPKEEP),
    ("look_at_queue", WORKER),
    ("mark_worker_stopped", WORKER),
    ("maybe_complete_run", OWNER_ONLY),
    ("more_messages", WORKER),
    ("needs_waking", WORKER),
    ("next_job", WORKER),
    ("next_schedule", CLIENT | WORKER),
    ("next_wait", WORKER),
    ("note_permits", CLIENT | WORKER | UPKEEP),
    ("pause_needs", UPKEEP),
    ("pause_schedule", CLIENT),
    ("poll_for_tasks", WORKER),
    ("prune_data_older_than", OWNER_ONLY),
    ("prune_jobs", UPKEEP),
    ("prune_runs", UPKEEP),
    ("prune_streams", UPKEEP | WORKER),
    ("prune_turns", UPKEEP | WORKER),
    ("queue_depth", CLIENT | WORKER),
    ("read_chunks", CLIENT | VIEWER),
    ("read_events", CLIENT | VIEWER),
    ("read_job_trace", CLIENT | UPKEEP | VIEWER),
    ("read_job_trace_end", CLIENT | UPKEEP | VIEWER),
    ("read_step_chunks", CLIENT | VIEWER),
    ("redrive_jobs", UPKEEP),
    ("release_jobs", WORKER),
    ("release_tasks", WORKER),
    ("release_unknown_jobs", WORKER),
    ("release_unknown_tasks", WORKER),
    ("remove_schedule", CLIENT | WORKER),
    ("requeue_stalled_tasks", WORKER),
    ("reschedule_jobs", WORKER),
    ("reschedule_unheld_jobs", UPKEEP),
    // Between two tests.
    ("reset_jobs", OWNER_ONLY),
    ("resume_needs", UPKEEP),
    ("resume_schedule", CLIENT),
    ("resume_tasks", WORKER),
    ("retry_run", CLIENT),
    ("set_capacity", CLIENT | UPKEEP),
    ("set_flow_input_schema", WORKER),
    ("set_flow_interface", WORKER),
    ("set_flow_options", OWNER_ONLY),
    ("set_job_settings", UPKEEP),
    ("set_rate", CLIENT | UPKEEP),
    ("set_step_options", OWNER_ONLY),
    ("set_vt_batch", OWNER_ONLY),
    ("settle_and_claim", WORKER),
    ("settle_and_claim_all", WORKER),
    ("settle_job", WORKER),
    ("settle_jobs", WORKER),
    ("signal", CLIENT | WORKER),
    ("signal_task", CLIENT | WORKER),
    ("start_flow", CLIENT),
    ("start_flow_with_states", CLIENT),
    ("start_ready_steps", OWNER_ONLY),
    ("start_run", CLIENT),
    ("start_tasks", WORKER),
    ("submit_jobs", CLIENT | WORKER),
    ("sweep_and_claim", WORKER),
    ("sweep_jobs", WORKER | UPKEEP),
    ("track_worker_function", WORKER),
    ("wait_tasks", WORKER),
    ("wake_waits", CLIENT | WORKER),
    ("yield_tasks", WORKER),
];

const ROLES: [(&str, u8); 4] = [
    ("pgflow_client", CLIENT),
    ("pgflow_worker", WORKER),
    ("pgflow_upkeep", UPKEEP),
    ("pgflow_viewer", VIEWER),
];

fn decision(function: &str) -> u8 {
    let decided = DECISIONS.iter().find(|(name, _)| *name == function).map(|(_, roles)| *roles);
    let internal = function.starts_with('_').then_some(OWNER_ONLY);
    decided.or(internal).unwrap_or_else(|| panic!("nobody decided who may call pgflow.{function}"))
}

async fn functions(db: &Db) -> Vec<String> {
    db.rows("select proname from pg_proc where pronamespace = 'pgflow'::regnamespace order by 1")
        .await
}

#[tokio::test]
async fn every_role_may_call_what_was_decided_and_no_more() {
    let db = Db::new().await;
    for (role, bit) in ROLES {
        let may = format!(
            "select proname, has_function_privilege('{role}', oid, 'execute') from pg_proc
             where pronamespace = 'pgflow'::regnamespace"
        );
        for row in db.rows(&may).await {
            let (function, may) = row.split_once('|').expect("two columns");
            assert_eq!(may == "t", decision(function) & bit != 0, "{role} and pgflow.{function}");
        }
    }
}

#[tokio::test]
async fn every_decision_is_about_a_function_that_exists() {
    let db = Db::new().await;
    let functions = functions(&db).await;
    for (name, _) in DECISIONS {
        assert!(functions.iter().any(|function| function == name), "there is no pgflow.{name}");
    }
}

#[tokio::test]
async fn the_public_has_nothing() {
    let db = Db::new().await;
    let open = "select 'function ' || proname from pg_proc p, aclexplode(coalesce(proacl, acldefault('f', proowner)))
            where pronamespace = 'pgflow'::regnamespace and grantee = 0
        union all
        select 'table ' || relname from pg_class, aclexplode(coalesce(relacl, acldefault('r', relowner)))
            where relnamespace = 'pgflow'::regnamespace and grantee = 0 and relkind in ('r', 'v', 'S')
        union all
        select 'schema ' || nspname from pg_namespace, aclexplode(nspacl) where nspname = 'pgflow' and grantee = 0";
    assert_eq!(db.rows(open).await, [""; 0]);
}

/// Tables a role may read, or write beyond that.
const TABLES: &[(&str, &str, &[&str])] = &[
    ("pgflow_client", "SELECT", &["deps", "flows", "limits", "steps"]),
    ("pgflow_client", "INSERT", &[]),
    (
        "pgflow_worker",
        "SELECT",
        &["deps", "flows", "limits", "steps", "worker_functions", "workers"],
    ),
    ("pgflow_worker", "INSERT", &["worker_functions", "workers"]),
    ("pgflow_worker", "UPDATE", &["worker_functions", "workers"]),
    ("pgflow_client", "UPDATE", &[]),
    ("pgflow_upkeep", "SELECT", &[]),
    ("pgflow_upkeep", "INSERT", &[]),
    ("pgflow_upkeep", "UPDATE", &[]),
    ("pgflow_viewer", "INSERT", &[]),
    ("pgflow_viewer", "UPDATE", &[]),
];

#[tokio::test]
async fn tables_are_read_and_written_by_those_who_need_them() {
    let db = Db::new().await;
    let ours = "from pg_class where relnamespace = 'pgflow'::regnamespace and relkind in ('r', 'p', 'v', 'm')";
    for (role, privilege, expected) in TABLES {
        let may = format!(
            "select relname {ours} and has_table_privilege('{role}', oid, '{privilege}') order by 1"
        );
        assert_eq!(db.rows(&may).await, *expected, "{role} {privilege}");
    }
    let hidden = format!(
        "select relname {ours} and not has_table_privilege('pgflow_viewer', oid, 'SELECT') order by 1"
    );
    let hidden = db.rows(&hidden).await;
    assert_eq!(hidden, ["hooks", "waits"], "a viewer reads all but tokens, which are secrets");
    for (role, _) in ROLES {
        for privilege in ["DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"] {
            let may = format!(
                "select relname {ours} and has_table_privilege('{role}', oid, '{privilege}')"
            );
            assert_eq!(db.rows(&may).await, [""; 0], "{role} {privilege}");
        }
    }
}

#[tokio::test]
async fn no_role_gets_at_the_queues_or_creates_anything() {
    let db = Db::new().await;
    let mut answers = BTreeMap::new();
    for (role, _) in ROLES {
        let may = format!(
            "select has_schema_privilege('{role}', 'pgmq', 'usage'), has_schema_privilege('{role}', 'pgflow', 'create'),
                has_schema_privilege('{role}', 'pgflow', 'usage')"
        );
        answers.insert(role, db.one(&may).await);
    }
    assert!(answers.values().all(|answer| answer == "f|f|t"), "{answers:?}");
}
