//! `delete_flow_and_data`.

use crate::harness::{Db, define};

async fn rows_of(db: &Db, flow: &str) -> String {
    let count =
        |table: &str| format!("(select count(*) from pgflow.{table} where flow_slug = '{flow}')");
    let tables = ["step_tasks", "step_states", "runs", "deps", "steps", "flows"];
    db.one(&format!("select {}", tables.map(count).join(", "))).await
}

#[tokio::test]
async fn everything_of_the_flow_goes_and_nothing_of_another() {
    let script = define("f", &["a", "b after a"]) + &define("g", &["a", "b after a"]);
    let db = Db::with(&script).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "1").await;
    let events = format!("select count(*) from pgflow.events where run_id = '{}'", run.id);
    db.start("f", "{}").await;
    db.start("g", "{}").await;
    assert_ne!(db.one(&events).await, "0");
    db.run("select pgflow.delete_flow_and_data(p_flow_slug => 'f')").await;
    assert_eq!(rows_of(&db, "f").await, "0|0|0|0|0|0");
    assert_eq!(db.one(&events).await, "0");
    assert_eq!(rows_of(&db, "g").await, "1|2|1|1|2|1");
    assert_eq!(db.rows("select queue_name from pgmq.list_queues()").await, ["g"]);
    db.check().await;
}

#[tokio::test]
async fn an_unknown_flow_is_no_error() {
    let db = Db::with(&define("g", &["a"])).await;
    db.run("select pgflow.delete_flow_and_data('f')").await;
    assert_eq!(rows_of(&db, "g").await, "0|0|0|0|1|1");
    db.check().await;
}

#[tokio::test]
async fn a_flow_whose_queue_is_gone_can_be_deleted() {
    let db = Db::with(&define("f", &["a"])).await;
    db.run("select pgmq.drop_queue('f'); select pgflow.delete_flow_and_data('f')").await;
    assert_eq!(rows_of(&db, "f").await, "0|0|0|0|0|0");
    db.check().await;
}

#[tokio::test]
async fn a_deleted_flow_can_be_defined_again() {
    let db = Db::with(&define("f", &["a"])).await;
    db.start("f", "{}").await;
    db.run("select pgflow.delete_flow_and_data('f')").await;
    db.run(&define("f", &["b"])).await;
    let run = db.start("f", "{}").await;
    run.finish("b", "1").await;
    assert_eq!(run.status().await, "completed");
    db.check().await;
}
