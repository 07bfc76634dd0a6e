//! `add_flow_version`, `current_flow`, `get_flow_versions`: flows under one name.

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
