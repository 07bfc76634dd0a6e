//! `start_run`: one run per id, however often it is asked for.

use crate::harness::{Db, define};

const ID: &str = "5a0b8f3e-0000-4000-8000-0000000000ff";

fn start(flow: &str, input: &str) -> String {
    format!("select run_id, flow_slug, created from pgflow.start_run('{flow}', '{input}', '{ID}')")
}

#[tokio::test]
async fn the_second_start_finds_the_first() {
    let db = Db::with(&define("f", &["a"])).await;
    assert_eq!(db.one(&start("f", "1")).await, format!("{ID}|f|t"));
    assert_eq!(db.one(&start("f", "2")).await, format!("{ID}|f|f"));
    assert_eq!(db.one("select input from pgflow.runs").await, "1");
    assert_eq!(db.queue("f").await, ["a#0"]);
    db.check().await;
}

#[tokio::test]
async fn without_an_id_each_start_is_a_run() {
    let db = Db::with(&define("f", &["a"])).await;
    let call = "select created, flow_slug from pgflow.start_run('f', '1')";
    assert_eq!((db.one(call).await, db.one(call).await), ("t|f".into(), "t|f".into()));
    assert_eq!(db.one("select count(distinct run_id) from pgflow.runs").await, "2");
    db.check().await;
}

#[tokio::test]
async fn an_id_of_another_flow_is_refused() {
    let db = Db::with(&(define("f", &["a"]) + &define("g", &["a"]))).await;
    db.run(&start("f", "1")).await;
    let failure = db.error(&start("g", "1")).await;
    assert_eq!(
        (failure.code.as_str(), failure.constraint.as_deref()),
        ("23505", Some("runs_pkey"))
    );
    assert_eq!(failure.message, format!("Run {ID} belongs to flow \"f\", not to \"g\""));
    db.check().await;
}

#[tokio::test]
async fn a_name_means_its_newest_version_and_finds_runs_of_all() {
    let db =
        Db::with(&(define("f", &["a"]) + &define("f_v2", &["a"]) + &define("g", &["a"]))).await;
    db.run(&start("f", "1")).await;
    db.run("select pgflow.add_flow_version('f', 2, 'f_v2')").await;
    assert_eq!(db.one(&start("f", "1")).await, format!("{ID}|f|f"));
    let new = "select flow_slug, created from pgflow.start_run('f', '1', gen_random_uuid())";
    assert_eq!(db.one(new).await, "f_v2|t");
    db.error(&start("g", "1")).await;
    db.check().await;
}

#[tokio::test]
async fn other_refusals_stay_what_they_are() {
    let db = Db::with(&define("f", &["m map"])).await;
    let failure = db.error(&start("f", "1")).await;
    assert!(failure.message.contains("is not an array"), "{failure}");
    assert_eq!(db.error(&start("nothing", "1")).await.code, "23503");
}
