//! Names, parameters, defaults and results of functions are API.

use crate::harness::Db;

/// As `pg_get_function_arguments` and `pg_get_function_result` print them.
const FUNCTIONS: &[(&str, &str, &str)] = &[
    ("_archive_task_message", "p_run_id uuid, p_step_slug text, p_task_index integer", "void"),
    ("_cascade_force_skip_steps", "run_id uuid, step_slug text, skip_reason text", "integer"),
    ("_compare_flow_shapes", "p_local jsonb, p_db jsonb", "text[]"),
    ("_create_flow_from_shape", "p_flow_slug text, p_shape jsonb", "void"),
    ("_get_flow_shape", "p_flow_slug text", "jsonb"),
    (
        "add_step",
        "flow_slug text, step_slug text, deps_slugs text[] DEFAULT '{}'::text[], max_attempts integer DEFAULT NULL::integer, \
         base_delay integer DEFAULT NULL::integer, timeout integer DEFAULT NULL::integer, \
         start_delay integer DEFAULT NULL::integer, step_type text DEFAULT 'single'::text, \
         required_input_pattern jsonb DEFAULT NULL::jsonb, forbidden_input_pattern jsonb DEFAULT NULL::jsonb, \
         when_unmet text DEFAULT 'skip'::text, when_exhausted text DEFAULT 'fail'::text, wait_timeout integer DEFAULT NULL::integer",
        "pgflow.steps",
    ),
    (
        "announce_hooks",
        "run_ids uuid[], step_slugs text[], task_indexes integer[], attempts integer[]",
        "TABLE(run_id uuid, step_slug text, task_index integer, token text)",
    ),
    ("calculate_retry_delay", "base_delay numeric, attempts_count integer", "integer"),
    (
        "cancel_abandoned",
        "max_children integer DEFAULT 100, OUT children integer, OUT runs uuid[]",
        "record",
    ),
    ("cancel_run", "run_id uuid, reason text DEFAULT NULL::text", "SETOF pgflow.runs"),
    ("cascade_complete_taskless_steps", "run_id uuid", "integer"),
    ("cascade_resolve_conditions", "run_id uuid", "boolean"),
    ("check", "", "TABLE(invariant text, run_id uuid, detail text)"),
    (
        "claim_tasks",
        "queue_names text[], qty integer, worker_id uuid DEFAULT NULL::uuid, \
         limited_flows text[] DEFAULT NULL::text[], limited_steps text[] DEFAULT NULL::text[], \
         limited_quotas integer[] DEFAULT NULL::integer[]",
        "SETOF pgflow.step_task_record",
    ),
    (
        "complete_task",
        "run_id uuid, step_slug text, task_index integer, output jsonb, attempt integer DEFAULT NULL::integer",
        "SETOF pgflow.step_tasks",
    ),
    (
        "complete_tasks",
        "run_ids uuid[], step_slugs text[], task_indexes integer[], outputs jsonb[], \
         attempts integer[] DEFAULT NULL::integer[]",
        OUTCOMES,
    ),
    (
        "configure_flow",
        "flow_slug text, record_events boolean DEFAULT NULL::boolean, retry_jitter real DEFAULT NULL::real",
        "pgflow.flows",
    ),
    (
        "create_flow",
        "flow_slug text, max_attempts integer DEFAULT NULL::integer, base_delay integer DEFAULT NULL::integer, \
         timeout integer DEFAULT NULL::integer",
        "pgflow.flows",
    ),
    ("delete_flow_and_data", "p_flow_slug text", "void"),
    (
        "ensure_flow_compiled",
        "flow_slug text, shape jsonb, allow_data_loss boolean DEFAULT false",
        "jsonb",
    ),
    (
        "fail_task",
        "run_id uuid, step_slug text, task_index integer, error_message text, attempt integer DEFAULT NULL::integer",
        "SETOF pgflow.step_tasks",
    ),
    (
        "fail_tasks",
        "run_ids uuid[], step_slugs text[], task_indexes integer[], error_messages text[], \
         attempts integer[] DEFAULT NULL::integer[], delays integer[] DEFAULT NULL::integer[], \
         fatal boolean[] DEFAULT NULL::boolean[]",
        OUTCOMES,
    ),
    (
        "get_run",
        "run_id uuid, payloads boolean DEFAULT true",
        "TABLE(flow_slug text, status text, remaining_steps integer, started_at timestamp with time zone, \
         ended_at timestamp with time zone, cancel_reason text, input jsonb, output jsonb, is_large boolean)",
    ),
    ("get_run_input", "run_id uuid", "jsonb"),
    (
        "get_run_statuses",
        "run_ids uuid[]",
        "TABLE(run_id uuid, flow_slug text, status text, started_at timestamp with time zone, \
         ended_at timestamp with time zone, remaining_steps integer)",
    ),
    (
        "get_run_steps",
        "run_id uuid, outputs boolean DEFAULT false",
        "TABLE(step_slug text, step_type text, status text, remaining_deps integer, initial_tasks integer, \
         remaining_tasks integer, error_message text, skip_reason text, is_leaf boolean, output jsonb, is_large boolean, \
         attempts integer, running integer, worker_id uuid, last_error text, yield_reason text, \
         next_at timestamp with time zone)",
    ),
    (
        "get_step_outputs",
        "run_id uuid, step_slug text, first_index integer DEFAULT 0, max_bytes integer DEFAULT 4194304",
        "TABLE(task_index integer, output text)",
    ),
    (
        "get_run_progress",
        "run_id uuid",
        "TABLE(step_slug text, step_type text, status text, initial_tasks integer, remaining_tasks integer, \
         attempts bigint, error_message text, skip_reason text, started_at timestamp with time zone, \
         ended_at timestamp with time zone)",
    ),
    ("get_run_with_states", "run_id uuid", "jsonb"),
    (
        "heartbeat",
        "run_ids uuid[], step_slugs text[], task_indexes integer[], attempts integer[], \
         worker_id uuid DEFAULT NULL::uuid",
        OUTCOMES,
    ),
    ("is_valid_slug", "slug text", "boolean"),
    (
        "list_runs",
        "flow_slugs text[] DEFAULT NULL::text[], statuses text[] DEFAULT NULL::text[], \
         started_before timestamp with time zone DEFAULT NULL::timestamp with time zone, \
         before_run uuid DEFAULT NULL::uuid, qty integer DEFAULT 50, \
         started_since timestamp with time zone DEFAULT NULL::timestamp with time zone",
        "TABLE(run_id uuid, flow_slug text, status text, started_at timestamp with time zone, \
         ended_at timestamp with time zone, remaining_steps integer)",
    ),
    (
        "list_waits",
        "of_run uuid DEFAULT NULL::uuid, of_token text DEFAULT NULL::text, \
         after_since timestamp with time zone DEFAULT NULL::timestamp with time zone, after_run uuid DEFAULT NULL::uuid, \
         after_step text DEFAULT NULL::text, after_index integer DEFAULT NULL::integer, qty integer DEFAULT 50",
        "TABLE(run_id uuid, step_slug text, task_index integer, attempt integer, kind text, token text, children text[], \
         since timestamp with time zone, until timestamp with time zone)",
    ),
    ("needs_waking", "", "boolean"),
    ("next_wait", "flow_slugs text[]", "double precision"),
    (
        "signal",
        "token text, payload jsonb, resume_id text DEFAULT NULL::text, buffer_for interval DEFAULT '7 days'::interval",
        "TABLE(outcome text, run_id uuid, step_slug text, task_index integer, path text, message text)",
    ),
    (
        "signal_task",
        "INOUT run_id uuid, INOUT step_slug text, INOUT task_index integer, payload jsonb, \
         resume_id text DEFAULT NULL::text, buffer_for interval DEFAULT '7 days'::interval, \
         OUT outcome text, OUT path text, OUT message text",
        "record",
    ),
    (
        "wait_tasks",
        "run_ids uuid[], step_slugs text[], task_indexes integer[], attempts integer[], waits jsonb[]",
        OUTCOMES,
    ),
    (
        "wake_waits",
        "max_waits integer DEFAULT 100, OUT woken integer, OUT timed_out integer, OUT expired integer, OUT told integer, OUT runs uuid[]",
        "record",
    ),
    ("holds_task", "run_id uuid, step_slug text, task_index integer, attempt integer", "boolean"),
    ("mark_worker_stopped", "worker_id uuid", "void"),
    ("maybe_complete_run", "run_id uuid", "void"),
    (
        "poll_for_tasks",
        "queue_name text, vt integer, qty integer, max_poll_seconds integer DEFAULT 5, \
         poll_interval_ms integer DEFAULT 100",
        "SETOF pgflow.step_task_record",
    ),
    (
        "prune_data_older_than",
        "retention_interval interval, max_runs integer",
        "TABLE(runs bigint, step_states bigint, step_tasks bigint, events bigint, messages bigint, \
         archived_messages bigint, workers bigint)",
    ),
    ("prune_data_older_than", "retention_interval interval", "void"),
    ("prune_runs", "retention interval, max_runs integer DEFAULT 100", "bigint"),
    (
        "release_tasks",
        "run_ids uuid[], step_slugs text[], task_indexes integer[], attempts integer[]",
        OUTCOMES,
    ),
    (
        "release_unknown_tasks",
        "worker_id uuid, queue_names text[], run_ids uuid[], step_slugs text[], task_indexes integer[], \
         attempts integer[]",
        "integer",
    ),
    ("requeue_stalled_tasks", "grace integer DEFAULT 30", "integer"),
    ("resume_tasks", "queue_names text[]", "bigint"),
    ("retry_run", "run_id uuid", "SETOF pgflow.runs"),
    (
        "set_vt_batch",
        "queue_name text, msg_ids bigint[], vt_offsets integer[]",
        "TABLE(msg_id bigint, read_ct integer, enqueued_at timestamp with time zone, vt timestamp with time zone, \
         message jsonb, headers jsonb)",
    ),
    (
        "settle_and_claim",
        "done_runs uuid[], done_steps text[], done_indexes integer[], done_outputs jsonb[], done_attempts integer[], \
         failed_runs uuid[], failed_steps text[], failed_indexes integer[], failed_errors text[], \
         failed_attempts integer[], failed_delays integer[], failed_fatal boolean[], \
         queue_names text[], qty integer, worker_id uuid DEFAULT NULL::uuid, \
         limited_flows text[] DEFAULT NULL::text[], limited_steps text[] DEFAULT NULL::text[], \
         limited_quotas integer[] DEFAULT NULL::integer[]",
        "TABLE(kind text, outcome text, flow_slug text, run_id uuid, step_slug text, task_index integer, \
         attempt integer, input jsonb, msg_id bigint, timeout integer)",
    ),
    (
        "sweep_and_claim",
        "grace integer, queue_names text[], qty integer, worker_id uuid DEFAULT NULL::uuid, \
         limited_flows text[] DEFAULT NULL::text[], limited_steps text[] DEFAULT NULL::text[], \
         limited_quotas integer[] DEFAULT NULL::integer[]",
        "TABLE(requeued integer, flow_slug text, run_id uuid, step_slug text, task_index integer, attempt integer, \
         input jsonb, msg_id bigint, timeout integer)",
    ),
    (
        "start_flow",
        "flow_slug text, input jsonb, run_id uuid DEFAULT NULL::uuid",
        "SETOF pgflow.runs",
    ),
    (
        "start_flow_with_states",
        "flow_slug text, input jsonb, run_id uuid DEFAULT NULL::uuid",
        "jsonb",
    ),
    ("start_ready_steps", "run_id uuid", "void"),
    ("set_flow_interface", "flow_slug text, interface text", "void"),
    (
        "start_run",
        "INOUT flow_slug text, input jsonb, INOUT run_id uuid DEFAULT NULL::uuid, \
         versions integer[] DEFAULT NULL::integer[], interface text DEFAULT NULL::text, \
         begins_at timestamp with time zone DEFAULT NULL::timestamp with time zone, \
         delay interval DEFAULT NULL::interval, OUT created boolean",
        "record",
    ),
    (
        "start_tasks",
        "flow_slug text, msg_ids bigint[], worker_id uuid",
        "SETOF pgflow.step_task_record",
    ),
    ("set_capacity", "slug text, capacity integer", "void"),
    (
        "set_rate",
        "slug text, amount integer, period interval DEFAULT '00:00:01'::interval, burst integer DEFAULT 1",
        "void",
    ),
    ("track_worker_function", "function_name text", "void"),
    (
        "yield_tasks",
        "run_ids uuid[], step_slugs text[], task_indexes integer[], attempts integer[], \
         delays integer[] DEFAULT NULL::integer[], reasons text[] DEFAULT NULL::text[]",
        OUTCOMES,
    ),
];

const OUTCOMES: &str = "TABLE(run_id uuid, step_slug text, task_index integer, outcome text)";

#[tokio::test]
async fn every_function_is_called_as_documented() {
    let db = Db::new().await;
    for (name, arguments, result) in FUNCTIONS {
        let found = format!(
            "select pg_get_function_arguments(oid), pg_get_function_result(oid) from pg_proc
             where pronamespace = 'pgflow'::regnamespace and proname = '{name}'"
        );
        let found = db.rows(&found).await;
        assert!(found.contains(&format!("{arguments}|{result}")), "{name}: {found:?}");
    }
}

/// A second form may make calls ambiguous. The one that is there differs in its number of parameters,
/// without defaults.
#[tokio::test]
async fn no_function_has_a_second_form() {
    let db = Db::new().await;
    let twice = "select proname from pg_proc where pronamespace = 'pgflow'::regnamespace
        group by proname having count(*) > 1";
    assert_eq!(db.rows(twice).await, ["prune_data_older_than"]);
    let defaults =
        "select sum(pronargdefaults) from pg_proc where proname = 'prune_data_older_than'";
    assert_eq!(db.one(defaults).await, "0");
}
