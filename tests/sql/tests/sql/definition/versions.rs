//! `add_flow_version`, `current_flow`, `get_flow_versions`, `set_flow_interface`: flows under one name.

use crate::harness::{Db, define};

async fn versions() -> Db {
    let db =
        Db::with(&(define("f", &["a"]) + &define("f_v2", &["a", "m map"]) + &define("g", &["a"])))
            .await;
    db.run("select pgflow.add_flow_version('f', 2, 'f_v2')").await;
    db
}

const LIST: &str =
    "select flow_name, version, flow_slug, is_current, open_runs, open_tasks, oldest_at is not null
    from pgflow.get_flow_versions(array['f', 'g', 'nobody'])";

#[tokio::test]
async fn a_name_means_its_newest_version() {
    let db = versions().await;
    let current = |name: &str| format!("select pgflow.current_flow('{name}')");
    assert_eq!(db.one(&current("f")).await, "f_v2");
    assert_eq!(db.one(&current("f_v2")).await, "f_v2");
    assert_eq!(db.one(&current("g")).await, "g", "a flow without versions is its own");
    assert_eq!(db.one(&current("nobody")).await, "nobody");
    assert_eq!(db.one("select flow_slug from pgflow.start_flow('f', '[]')").await, "f_v2");
}

#[tokio::test]
async fn versions_come_with_what_is_open() {
    let db = versions().await;
    assert_eq!(db.rows(LIST).await, ["f|1|f|f|0|0|f", "f|2|f_v2|t|0|0|f", "g|1|g|t|0|0|f"]);
    db.start("f", "[1, 2]").await;
    db.start("f", "[]").await;
    db.start("g", "1").await.finish("a", "1").await;
    assert_eq!(db.rows(LIST).await, ["f|1|f|f|0|0|f", "f|2|f_v2|t|2|4|t", "g|1|g|t|0|0|f"]);
}

#[tokio::test]
async fn a_version_whose_queue_is_gone_hides_no_other() {
    let db = versions().await;
    db.run("select pgmq.drop_queue('f')").await;
    assert_eq!(db.rows(LIST).await, ["f|1|f|f|0|0|f", "f|2|f_v2|t|0|0|f", "g|1|g|t|0|0|f"]);
}

#[tokio::test]
async fn a_version_is_added_once_and_stays_what_it_is() {
    let db = versions().await;
    let add = |version: u32, slug: &str| {
        format!(
            "select flow_name, version, flow_slug from pgflow.add_flow_version('f', {version}, '{slug}')"
        )
    };
    assert_eq!(db.one(&add(2, "f_v2")).await, "f|2|f_v2");
    let failure = db.error(&add(2, "g")).await;
    assert_eq!(failure.to_string(), "23505 Version 2 of flow \"f\" is \"f_v2\", not \"g\"");
    assert_eq!(
        db.error(&add(3, "f_v2")).await.constraint.as_deref(),
        Some("flow_versions_flow_slug_key")
    );
    assert_eq!(
        db.error(&add(3, "nobody")).await.constraint.as_deref(),
        Some("flow_versions_flow_slug_fkey")
    );
    assert_eq!(db.error(&add(0, "g")).await.constraint.as_deref(), Some("version_is_positive"));
    assert_eq!(
        db.rows("select version, flow_slug from pgflow.flow_versions order by 1").await,
        ["1|f", "2|f_v2"]
    );
}

/// What a program for these versions starts.
fn start(versions: &str, interface: &str) -> String {
    format!("select flow_slug from pgflow.start_run('f', '[]', null, {versions}, {interface})")
}

#[tokio::test]
async fn a_program_starts_the_newest_version_that_it_fits() {
    let db = versions().await;
    db.run(&(define("f_v3", &["a", "b"]) + "select pgflow.add_flow_version('f', 3, 'f_v3')")).await;
    for (flow, interface) in [("f", "old"), ("f_v2", "old"), ("f_v3", "new")] {
        db.run(&format!("select pgflow.set_flow_interface('{flow}', '{interface}')")).await;
    }
    for (versions, interface, expected) in [
        ("null", "null", "f_v3"),
        ("'{1}'", "null", "f"),
        ("'{1}'", "'other'", "f"),
        ("'{1}'", "'old'", "f_v2"),
        ("'{1}'", "'new'", "f_v3"),
        ("'{2, 1}'", "null", "f_v2"),
        ("'{3}'", "'old'", "f_v3"),
        ("'{4, 3}'", "'old'", "f_v3"),
    ] {
        assert_eq!(db.one(&start(versions, interface)).await, expected, "{versions} {interface}");
    }
    let id = "00000000-0000-4000-8000-00000000000a";
    let with_id = format!(
        "select flow_slug, created from pgflow.start_run('f', '[]', '{id}', '{{1}}', 'old')"
    );
    assert_eq!(db.one(&with_id).await, "f_v2|t");
    db.run("select pgflow.set_flow_interface('f_v3', 'old')").await;
    assert_eq!(db.one(&with_id).await, "f_v2|f", "a run stays what it is");
    assert_eq!(db.one(&start("'{1}'", "'old'")).await, "f_v3", "the last word counts");
}

#[tokio::test]
async fn a_program_that_fits_no_version_starts_nothing() {
    let db = versions().await;
    db.run("select pgflow.set_flow_interface('f_v2', 'same')").await;
    let failure = db.error(&start("'{3}'", "'same'")).await;
    assert_eq!(
        failure.to_string(),
        "P0002 Flow \"f\" has no version that fits a program for version 3"
    );
    assert_eq!(failure.constraint.as_deref(), Some("flow_versions_pkey"));
    assert_eq!(db.one("select count(*) from pgflow.runs").await, "0");
    let unknown = "select pgflow.start_run('nobody', '1', null, '{1}')";
    assert_eq!(db.error(unknown).await.constraint.as_deref(), Some("runs_flow_slug_fkey"));
}

#[tokio::test]
async fn a_flow_without_versions_is_the_first() {
    let db = versions().await;
    let start = "select flow_slug from pgflow.start_run('g', '1', null, '{1}')";
    assert_eq!(db.one(start).await, "g");
    let error = db.error("select pgflow.start_run('g', '1', null, '{2}')").await;
    assert_eq!(error.code, "P0002");
}
