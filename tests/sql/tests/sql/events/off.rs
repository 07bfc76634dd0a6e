//! `configure_flow`: recording can be turned off.

use crate::harness::{Db, define};

#[tokio::test]
async fn a_flow_without_events_works_to_the_end() {
    let steps = [
        "a",
        "m map after a",
        "s; max_attempts => 1, when_exhausted => 'skip-cascade'",
        "z after m",
    ];
    let db = Db::with(&(define("f", &steps) + &define("g", &["a"]))).await;
    db.run("select pgflow.configure_flow(flow_slug => 'f', record_events => false)").await;
    let run = db.start("f", "{}").await;
    run.finish("a", "[1]").await;
    run.exhaust("s", "boom").await;
    run.complete("m", 0, "1").await;
    run.finish("z", "1").await;
    assert_eq!(run.get("status, output").await, r#"completed|{"z": 1}"#);
    let cancelled = db.start("f", "{}").await;
    db.run(&format!("select pgflow.cancel_run('{}')", cancelled.id)).await;
    assert_eq!(db.one("select count(*) from pgflow.events").await, "0");
    let other = db.start("g", "{}").await;
    assert_eq!(other.events().await.len(), 2, "other flows go on telling");
    db.check().await;
}

#[tokio::test]
async fn a_run_keeps_what_it_started_with() {
    let db = Db::with(&define("f", &["a"])).await;
    let told = db.start("f", "{}").await;
    db.run("select pgflow.configure_flow('f', record_events => false)").await;
    let silent = db.start("f", "{}").await;
    db.claim("f").await;
    told.complete("a", 0, "1").await;
    db.run("select pgflow.configure_flow('f', record_events => true)").await;
    silent.complete("a", 0, "1").await;
    assert_eq!(told.events().await.len(), 4);
    assert_eq!(silent.events().await, [""; 0]);
    db.check().await;
}

#[tokio::test]
async fn null_leaves_a_setting_as_it_is() {
    let db = Db::with(&define("f", &["a"])).await;
    let row = |call: &str| {
        format!("select record_events, retry_jitter from pgflow.configure_flow({call})")
    };
    assert_eq!(db.one(&row("'f'")).await, "t|0");
    assert_eq!(db.one(&row("'f', record_events => false, retry_jitter => 0.25")).await, "f|0.25");
    assert_eq!(db.one(&row("'f', null, null")).await, "f|0.25");
    let failure = db.error("select pgflow.configure_flow('nope')").await;
    assert!(failure.message.contains("nope"), "{failure}");
    assert_eq!(
        db.error("select pgflow.configure_flow('f', retry_jitter => -1)").await.code,
        "23514"
    );
    db.check().await;
}
