//! How functions are declared.

use crate::harness::Db;

const OURS: &str = "from pg_proc where pronamespace = 'pgflow'::regnamespace";

#[tokio::test]
async fn every_function_pins_its_search_path() {
    let db = Db::new().await;
    let open = format!(
        "select proname {OURS} and not coalesce(proconfig, '{{}}') @> array['search_path=\"\"'] order by 1"
    );
    assert_eq!(db.rows(&open).await, [""; 0]);
}

#[tokio::test]
async fn volatility_is_what_callers_may_rely_on() {
    let db = Db::new().await;
    for (name, kind) in [
        ("is_valid_slug", "i"),
        ("calculate_retry_delay", "i"),
        ("_get_flow_shape", "s"),
        ("_compare_flow_shapes", "s"),
        ("create_flow", "v"),
        ("start_tasks", "v"),
        ("_archive_task_message", "v"),
        ("complete_task", "v"),
    ] {
        assert_eq!(
            db.one(&format!("select provolatile {OURS} and proname = '{name}'")).await,
            kind,
            "{name}"
        );
    }
    let safe = format!("select proparallel {OURS} and proname = 'calculate_retry_delay'");
    assert_eq!(db.one(&safe).await, "s");
}

#[tokio::test]
async fn nothing_else_is_needed_of_the_server() {
    let db = Db::new().await;
    let extensions = "select extname from pg_extension where extname not in ('plpgsql', 'pgmq')";
    assert_eq!(db.rows(extensions).await, [""; 0]);
}
