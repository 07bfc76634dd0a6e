//! Columns, types, nullability and defaults.

use crate::harness::Db;

/// `column type null? default`; `-` for no default, `*` for any.
const TABLES: &[(&str, &[&str])] = &[
    (
        "flows",
        &[
            "flow_slug text no -",
            "opt_max_attempts integer no 3",
            "opt_base_delay integer no 1",
            "opt_timeout integer no 60",
            "created_at timestamptz no now()",
        ],
    ),
    (
        "steps",
        &[
            "flow_slug text no -",
            "step_slug text no -",
            "step_type text no 'single'::text",
            "step_index integer no 0",
            "deps_count integer no 0",
            "opt_max_attempts integer yes -",
            "opt_base_delay integer yes -",
            "opt_timeout integer yes -",
            "opt_start_delay integer yes -",
            "required_input_pattern jsonb yes -",
            "forbidden_input_pattern jsonb yes -",
            "when_unmet text no 'skip'::text",
            "when_exhausted text no 'fail'::text",
            "created_at timestamptz no now()",
        ],
    ),
    (
        "deps",
        &[
            "flow_slug text no -",
            "dep_slug text no -",
            "step_slug text no -",
            "created_at timestamptz no now()",
        ],
    ),
    (
        "runs",
        &[
            "run_id uuid no *",
            "flow_slug text no -",
            "status text no 'started'::text",
            "input jsonb no -",
            "output jsonb yes -",
            "remaining_steps integer no 0",
            "started_at timestamptz no now()",
            "completed_at timestamptz yes -",
            "failed_at timestamptz yes -",
            "cancelled_at timestamptz yes -",
            "cancel_reason text yes -",
        ],
    ),
    (
        "step_states",
        &[
            "flow_slug text no -",
            "run_id uuid no -",
            "step_slug text no -",
            "status text no 'created'::text",
            "remaining_tasks integer yes -",
            "initial_tasks integer yes -",
            "remaining_deps integer no 0",
            "output jsonb yes -",
            "error_message text yes -",
            "skip_reason text yes -",
            "created_at timestamptz no now()",
            "started_at timestamptz yes -",
            "completed_at timestamptz yes -",
            "failed_at timestamptz yes -",
            "skipped_at timestamptz yes -",
        ],
    ),
    (
        "step_tasks",
        &[
            "flow_slug text no -",
            "run_id uuid no -",
            "step_slug text no -",
            "message_id bigint yes -",
            "task_index integer no 0",
            "status text no 'queued'::text",
            "attempts_count integer no 0",
            "error_message text yes -",
            "output jsonb yes -",
            "queued_at timestamptz no now()",
            "started_at timestamptz yes -",
            "completed_at timestamptz yes -",
            "failed_at timestamptz yes -",
            "last_worker_id uuid yes -",
            "requeued_count integer no 0",
            "last_requeued_at timestamptz yes -",
            "permanently_stalled_at timestamptz yes -",
            "refunded_count integer no 0",
            "yielded_attempt integer yes -",
            "yield_reason text yes -",
        ],
    ),
    (
        "workers",
        &[
            "worker_id uuid no -",
            "queue_name text no -",
            "function_name text no -",
            "started_at timestamptz no now()",
            "deprecated_at timestamptz yes -",
            "stopped_at timestamptz yes -",
            "last_heartbeat_at timestamptz no now()",
        ],
    ),
    (
        "worker_functions",
        &[
            "function_name text no -",
            "enabled boolean no true",
            "debounce interval no '00:00:06'::interval",
            "last_invoked_at timestamptz yes -",
            "created_at timestamptz no now()",
            "updated_at timestamptz no now()",
        ],
    ),
    (
        "events",
        &[
            "run_id uuid * *",
            "seq * * *",
            "event_type text * *",
            "step_slug text * *",
            "payload jsonb * *",
            "at timestamptz * *",
        ],
    ),
];

fn matches(expected: &str, found: &str) -> bool {
    let pairs = expected.splitn(4, ' ').zip(found.splitn(4, ' '));
    pairs.into_iter().all(|(expected, found)| expected == "*" || expected == found)
}

#[tokio::test]
async fn every_documented_column_is_there() {
    let db = Db::new().await;
    for (table, columns) in TABLES {
        let found = db
            .rows(&format!(
                "select concat_ws(' ', column_name, replace(data_type, 'timestamp with time zone', 'timestamptz'),
                    lower(is_nullable), coalesce(column_default, '-'))
                 from information_schema.columns where table_schema = 'pgflow' and table_name = '{table}'"
            ))
            .await;
        for column in *columns {
            assert!(
                found.iter().any(|row| matches(column, row)),
                "pgflow.{table}: {column} is not in {found:#?}"
            );
        }
    }
}

#[tokio::test]
async fn a_task_record_has_its_fields_in_order() {
    let db = Db::new().await;
    let fields = "select attname || ' ' || format_type(atttypid, atttypmod) from pg_attribute
        where attrelid = 'pgflow.step_task_record'::regclass and attnum > 0 order by attnum";
    let expected = [
        "flow_slug text",
        "run_id uuid",
        "step_slug text",
        "input jsonb",
        "msg_id bigint",
        "task_index integer",
        "attempt integer",
    ];
    assert_eq!(db.rows(fields).await[..7], expected);
}

#[tokio::test]
async fn no_table_has_row_security() {
    let db = Db::new().await;
    let secured = "select relname from pg_class where relnamespace = 'pgflow'::regnamespace and relrowsecurity";
    assert_eq!(db.rows(secured).await, [""; 0]);
}
