//! Names, parameters, results and columns.

use crate::harness::Db;

/// As clients know them; those without names are the older generation's, which newer names would make ambiguous.
const FUNCTIONS: &[(&str, &str, &str)] = &[
    ("archive_cancelled_jobs", "p_worker_id text, p_limit integer DEFAULT 100", "integer"),
    (
        "cancel_job",
        "p_job_id text, p_worker_id text, p_reason text DEFAULT NULL::text",
        "pgwf.jobs",
    ),
    (
        "clear_crash_concern",
        "p_job_id text, p_worker_id text, p_reason text DEFAULT NULL::text",
        "boolean",
    ),
    ("complete_job", "p_job_id text, p_lease_id text, p_worker_id text", "boolean"),
    ("complete_unheld_job", "p_job_id text, p_worker_id text", "boolean"),
    ("crash_concern_threshold", "", "integer"),
    (
        "extend_lease",
        "p_job_id text, p_lease_id text, p_worker_id text, p_additional_seconds integer DEFAULT 60",
        "timestamp with time zone",
    ),
    (
        "get_work",
        "p_worker_id text, p_worker_caps text[], p_lease_seconds integer DEFAULT 60, p_limit_jobs integer DEFAULT 1",
        "TABLE(job_id text, lease_id text, next_need text, singleton_key text, wait_for text[], payload jsonb, \
         available_at timestamp with time zone, lease_expires_at timestamp with time zone)",
    ),
    ("is_notify_enabled", "", "boolean"),
    ("is_trace_enabled", "", "boolean"),
    ("normalize_wait_for", "p_wait_for text[]", "text[]"),
    (
        "reschedule_job",
        "p_job_id text, p_lease_id text, p_worker_id text, p_next_need text, p_wait_for text[] DEFAULT '{}'::text[], \
         p_available_at timestamp with time zone DEFAULT clock_timestamp(), p_payload jsonb DEFAULT NULL::jsonb",
        RESCHEDULED,
    ),
    (
        "reschedule_job",
        "p_job_id text, p_lease_id text, p_worker_id text, p_next_need text, p_wait_for text[], p_singleton_key text, \
         p_available_at timestamp with time zone",
        RESCHEDULED,
    ),
    ("reschedule_job", "text, text, text, text, text[], text", RESCHEDULED),
    ("reschedule_job", "text, text, text, text, text[], text, text", RESCHEDULED),
    ("reschedule_unheld_job", "text, text, text, text[], text", RESCHEDULED),
    ("reschedule_unheld_job", "text, text, text, text[], text, text", RESCHEDULED),
    (
        "reschedule_unheld_job",
        "p_job_id text, p_worker_id text, p_next_need text, p_wait_for text[] DEFAULT '{}'::text[], \
         p_available_at timestamp with time zone DEFAULT clock_timestamp(), p_payload jsonb DEFAULT NULL::jsonb",
        RESCHEDULED,
    ),
    (
        "reschedule_unheld_job",
        "p_job_id text, p_worker_id text, p_next_need text, p_wait_for text[], p_singleton_key text, \
         p_available_at timestamp with time zone",
        RESCHEDULED,
    ),
    ("set_crash_concern_threshold", "p_threshold integer", "integer"),
    ("set_notify", "enabled boolean", "boolean"),
    ("set_trace", "enabled boolean", "boolean"),
    (
        "submit_job",
        "p_job_id text, p_worker_id text, p_next_need text, p_wait_for text[] DEFAULT '{}'::text[], \
         p_payload jsonb DEFAULT '{}'::jsonb, p_singleton_key text DEFAULT NULL::text, \
         p_available_at timestamp with time zone DEFAULT clock_timestamp(), \
         p_expires_at timestamp with time zone DEFAULT NULL::timestamp with time zone",
        SUBMITTED,
    ),
    ("submit_job", "text, text, text, text[], text", SUBMITTED),
    ("submit_job", "text, text, text, text[], text, text", SUBMITTED),
    ("submit_job", "text, text, text, text[], text, text, timestamp with time zone", SUBMITTED),
    ("submit_job", "text, text, text, text[], text, timestamp with time zone", SUBMITTED),
    (
        "submit_job",
        "text, text, text, text[], text, timestamp with time zone, timestamp with time zone",
        SUBMITTED,
    ),
];

const SUBMITTED: &str = "TABLE(job_id text, next_need text, wait_for text[], payload jsonb, available_at timestamp with time zone)";
const RESCHEDULED: &str =
    "TABLE(job_id text, next_need text, wait_for text[], available_at timestamp with time zone)";

#[tokio::test]
async fn every_function_is_called_as_published() {
    let db = Db::new().await;
    let found = "select format('%s|%s|%s', proname, pg_get_function_arguments(oid), pg_get_function_result(oid)) from pg_proc
        where pronamespace = 'pgwf'::regnamespace and proname !~ '^_' order by proname, pg_get_function_arguments(oid) collate \"C\"";
    let mut expected: Vec<String> = FUNCTIONS
        .iter()
        .map(|(name, arguments, result)| format!("{name}|{arguments}|{result}"))
        .collect();
    expected.sort_unstable();
    let mut found = db.rows(found).await;
    found.sort_unstable();
    assert_eq!(found, expected);
}

const COLUMNS: &[(&str, &str)] = &[
    (
        "jobs",
        "job_id text, next_need text, wait_for text[], payload jsonb, singleton_key text, available_at timestamptz, \
         expires_at timestamptz, lease_id text, lease_expires_at timestamptz, lease_expiration_count int8, \
         consecutive_expirations int8, created_at timestamptz, cancel_requested bool, cancel_requested_by text, \
         cancel_requested_at timestamptz",
    ),
    (
        "jobs_archive",
        "archived_at timestamptz, job_id text, next_need text, wait_for text[], payload jsonb, singleton_key text, \
         created_at timestamptz, expires_at timestamptz, lease_id text, lease_expiration_count int8, \
         consecutive_expirations int8, cancel_requested bool, cancel_requested_by text, cancel_requested_at timestamptz",
    ),
    (
        "jobs_trace",
        "trace_id int8, job_id text, event_type text, worker_id text, event_at timestamptz, input_data jsonb, \
         output_data jsonb",
    ),
    (
        "jobs_with_status",
        "job_id text, next_need text, wait_for text[], payload jsonb, singleton_key text, available_at timestamptz, \
         expires_at timestamptz, lease_id text, lease_expires_at timestamptz, lease_expiration_count int8, \
         consecutive_expirations int8, created_at timestamptz, cancel_requested bool, cancel_requested_by text, \
         cancel_requested_at timestamptz, status text",
    ),
    (
        "jobs_friendly_status",
        "job_id text, status text, creation_dt timestamptz, pending_jobs text[], sleep_until timestamptz, worker_id text, \
         cancelled_at timestamptz, cancelled_by text, expires_at timestamptz, payload jsonb",
    ),
];

#[tokio::test]
async fn every_table_has_its_columns_in_order() {
    let db = Db::new().await;
    for (table, columns) in COLUMNS {
        let found = format!(
            "select string_agg(attname || ' ' || replace(replace(replace(replace(format_type(atttypid, null), 'timestamp with time zone', 'timestamptz'),
               'bigint', 'int8'), 'boolean', 'bool'), 'character varying', 'varchar'), ', ' order by attnum)
             from pg_attribute where attrelid = 'pgwf.{table}'::regclass and attnum > 0"
        );
        assert_eq!(db.one(&found).await, *columns, "{table}");
    }
}

/// As they stand in programs that are in use.
#[tokio::test]
async fn the_two_statements_of_older_clients_run_as_they_stand() {
    let db = Db::new().await;
    db.run("select pgwf.submit_job('preflight-99', 'w', 'preflight')").await;
    let row = db.one("SELECT pgwf.submit_job('inv-42', 'billing-service', 'invoice.collect', ARRAY[]::TEXT[], 'customer-123', clock_timestamp());").await;
    assert!(row.starts_with("(inv-42,invoice.collect,{},{},"), "{row}");
    assert_eq!(db.one("SELECT job_id FROM pgwf.submit_job(p_job_id => 'job-123', p_worker_id => 'ingest-service', p_next_need => 'transcode.video', p_wait_for => ARRAY['preflight-99'], p_singleton_key => 'video-777', p_available_at => clock_timestamp());").await, "job-123");
    assert_eq!(
        db.rows("select job_id, singleton_key, wait_for from pgwf.jobs order by job_id").await,
        ["inv-42|customer-123|{}", "job-123|video-777|{preflight-99}", "preflight-99|NULL|{}"]
    );
    db.check().await;
}

#[tokio::test]
async fn both_generations_work_by_position_and_by_name() {
    let db = Db::new().await;
    for (call, key, payload) in [
        ("'9', 'w', 'n', '{}', '{\"a\": 1}', 'k9'", "k9", "{\"a\": 1}"),
        ("'10', 'w', 'n', '{}', '{\"a\": 1}', 'k10', now()", "k10", "{\"a\": 1}"),
        (
            "'11', 'w', 'n', '{}', '{\"a\": 1}', 'k11', now(), now() + interval '1 day'",
            "k11",
            "{\"a\": 1}",
        ),
        ("'1', 'w', 'n'", "NULL", "{}"),
        ("'2', 'w', 'n', '{}', '{\"a\": 1}'", "NULL", "{\"a\": 1}"),
        ("'3', 'w', 'n', '{}', '{\"a\": 1}'::jsonb, 'k3'", "k3", "{\"a\": 1}"),
        ("'4', 'w', 'n', '{}'::text[], 'k4', clock_timestamp(), null", "k4", "{}"),
        ("'5', 'w', 'n', '{}'::text[], 'k5'::text, now(), now() + interval '1 day'", "k5", "{}"),
        (
            "p_job_id => '6', p_worker_id => 'w', p_next_need => 'n', p_payload => '{\"b\": 2}'",
            "NULL",
            "{\"b\": 2}",
        ),
        (
            "p_job_id => '7', p_worker_id => 'w', p_next_need => 'n', p_singleton_key => 'k7', p_expires_at => 'infinity'",
            "k7",
            "{}",
        ),
        (
            "p_job_id => '8', p_worker_id => 'w', p_next_need => 'n', p_wait_for => '{}', p_singleton_key => 'k8', p_available_at => now(), p_expires_at => now() + interval '1 day'",
            "k8",
            "{}",
        ),
    ] {
        let id = db.one(&format!("select job_id from pgwf.submit_job({call})")).await;
        let found = db
            .one(&format!("select singleton_key, payload from pgwf.jobs where job_id = '{id}'"))
            .await;
        assert_eq!(found, format!("{key}|{payload}"), "{call}");
    }
    db.check().await;
}

#[tokio::test]
async fn an_older_reschedule_replaces_the_key_or_keeps_it() {
    let db = Db::new().await;
    db.run("select pgwf.submit_job('x', 'w', 'n', p_singleton_key => 'old')").await;
    let key = "select singleton_key, next_need from pgwf.jobs";
    let lease = super::lease(&db, "n", "x").await;
    db.run(&format!(
        "select pgwf.reschedule_job('x', '{lease}', 'w', 'm', '{{}}', 'new', clock_timestamp())"
    ))
    .await;
    assert_eq!(db.one(key).await, "new|m");
    db.check().await;
    let lease = super::lease(&db, "m", "x").await;
    db.run(&format!("select pgwf.reschedule_job(p_job_id => 'x', p_lease_id => '{lease}', p_worker_id => 'w', p_next_need => 'n', p_wait_for => '{{}}', p_singleton_key => null, p_available_at => clock_timestamp())")).await;
    assert_eq!(db.one(key).await, "new|n");
    db.run("select pgwf.reschedule_unheld_job('x', 'w', 'o', '{}', 'newer', clock_timestamp())")
        .await;
    assert_eq!(db.one(key).await, "newer|o");
    db.run("select pgwf.reschedule_unheld_job(p_job_id => 'x', p_worker_id => 'w', p_next_need => 'q', p_wait_for => '{}', p_singleton_key => null, p_available_at => clock_timestamp())").await;
    assert_eq!(db.one(key).await, "newer|q");
    db.run("select pgwf.reschedule_unheld_job('x', 'w', 'p')").await;
    assert_eq!(db.one(key).await, "newer|p");
    assert_eq!(db.rows("select key, jobs, holder from pgflow.job_keys").await, ["newer|1|NULL"]);
    db.check().await;
}

/// Nothing is left to PUBLIC, every function pins its path, and roles get what was decided.
#[tokio::test]
async fn rights_are_as_narrow_as_in_pgflow() {
    let db = Db::new().await;
    let open =
        "select proname from pg_proc, aclexplode(coalesce(proacl, acldefault('f', proowner)))
            where pronamespace = 'pgwf'::regnamespace and grantee = 0
        union all
        select relname from pg_class, aclexplode(coalesce(relacl, acldefault('r', relowner)))
            where relnamespace = 'pgwf'::regnamespace and grantee = 0 and relkind = 'v'
        union all
        select proname from pg_proc where pronamespace = 'pgwf'::regnamespace
            and not coalesce(proconfig, '{}') @> array['search_path=pg_catalog, pg_temp']";
    assert_eq!(db.rows(open).await, [""; 0]);
    let getters = "crash_concern_threshold,is_notify_enabled,is_trace_enabled";
    for (role, functions) in [
        ("pgflow_client", format!("cancel_job,{getters},normalize_wait_for,submit_job")),
        ("pgflow_worker", format!("complete_job,extend_lease,get_work,{getters},normalize_wait_for,reschedule_job,submit_job")),
        ("pgflow_upkeep", "archive_cancelled_jobs,cancel_job,clear_crash_concern,complete_unheld_job,crash_concern_threshold,is_notify_enabled,is_trace_enabled,reschedule_unheld_job,set_crash_concern_threshold,set_notify,set_trace".into()),
        ("pgflow_viewer", getters.into()),
    ] {
        let may = format!(
            "select string_agg(distinct proname, ',' order by proname) from pg_proc
             where pronamespace = 'pgwf'::regnamespace and has_function_privilege('{role}', oid, 'execute')"
        );
        assert_eq!(db.one(&may).await.split(',').collect::<std::collections::BTreeSet<_>>(), functions.split(',').collect(), "{role}");
        let mut session = db.session().await;
        session.run(&format!("set role {role}")).await;
        session.run("select * from pgwf.jobs_friendly_status; select * from pgwf.jobs_trace; select * from pgwf.jobs_archive").await;
        assert_eq!(session.error("delete from pgwf.jobs").await.code, "42501");
    }
}

/// Somebody's day with the roles only.
#[tokio::test]
async fn the_roles_are_enough_to_work_with() {
    let db = Db::new().await;
    let mut client = db.session().await;
    client.run("set role pgflow_client; select pgwf.submit_job('x', 'c', 'n', p_singleton_key => 'k'); select pgwf.submit_job('y', 'c', 'n', '{x}')").await;
    let mut worker = db.session().await;
    worker.run("set role pgflow_worker").await;
    let lease = worker.one("select lease_id from pgwf.get_work('w', array['n'])").await;
    worker.run(&format!("select pgwf.extend_lease('x', '{lease}', 'w'); select pgwf.complete_job('x', '{lease}', 'w')")).await;
    let mut upkeep = db.session().await;
    upkeep.run("set role pgflow_upkeep; select pgwf.cancel_job('y', 'o'); select pgwf.archive_cancelled_jobs('o')").await;
    assert_eq!(
        upkeep.rows("select job_id from pgwf.jobs_archive order by job_id").await,
        ["x", "y"]
    );
    db.check().await;
}
