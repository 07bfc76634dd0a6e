//! How functions are declared.

use std::path::Path;

use crate::harness::Db;

const OURS: &str = "from pg_proc where pronamespace = 'pgflow'::regnamespace";

#[tokio::test]
async fn every_function_pins_its_search_path() {
    let db = Db::new().await;
    let open = format!(
        "select proname {OURS} and not coalesce(proconfig, '{{}}') @> array['search_path=pg_catalog, pg_temp'] order by 1"
    );
    assert_eq!(db.rows(&open).await, [""; 0]);
}

/// A function is named by a test of what it does, not only by those of all functions.
#[tokio::test]
async fn every_function_has_a_test() {
    let db = Db::new().await;
    let public = format!("select proname {OURS} and proname !~ '^_' order by 1");
    let tests = sources(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sql")));
    let named = |name: &String| {
        tests.contains(&format!("pgflow.{name}(")) || tests.contains(&format!("\"{name}\""))
    };
    let mut untested = db.rows(&public).await;
    untested.retain(|name| !named(name));
    assert_eq!(untested, [""; 0]);
}

/// `jsonb_agg` and `jsonb_object_agg` take each text they meet for one that ends with a zero byte: the time they need
/// grows with the square of their input.
#[tokio::test]
async fn json_is_gathered_in_linear_time() {
    let db = Db::new().await;
    let slow = format!("select proname {OURS} and prosrc ~ '\\mjsonb_(object_)?agg\\M' order by 1");
    assert_eq!(db.rows(&slow).await, [""; 0]);
}

/// The text of all tests but those that list functions.
fn sources(directory: &Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(directory).expect("the tests are there") {
        let path = entry.expect("an entry").path();
        if path.ends_with("same_runs_besides.rs") {
            continue;
        }
        if path.is_file() {
            text += &std::fs::read_to_string(&path).expect("text");
        } else if !path.ends_with("schema") && !path.ends_with("security") {
            text += &sources(&path);
        }
    }
    text
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
