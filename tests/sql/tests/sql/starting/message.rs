//! The messages that steps send.

use serde_json::{Value, json};

use crate::harness::{Db, define};

#[tokio::test]
async fn a_message_names_its_task_and_carries_no_input() {
    let db = Db::with(&define("f", &["m map"])).await;
    let run = db.start("f", r#"["secret", "secret"]"#).await;
    let rows = db.rows("select message from pgmq.q_f order by msg_id").await;
    let bodies: Vec<Value> =
        rows.iter().map(|row| serde_json::from_str(row).expect("JSON")).collect();
    let body = |index: u32| json!({"flow_slug": "f", "run_id": run.id.to_string(), "step_slug": "m", "task_index": index});
    assert_eq!(bodies, [body(0), body(1)]);
    assert_eq!(db.one("select count(*) from pgmq.q_f where headers is not null").await, "0");
    db.check().await;
}

#[tokio::test]
async fn a_task_knows_its_message() {
    let db = Db::with(&define("f", &["m map"])).await;
    db.start("f", "[1, 2, 3]").await;
    let matching = "select count(*) from pgflow.step_tasks t join pgmq.q_f q on q.msg_id = t.message_id
        and q.message->>'run_id' = t.run_id::text and (q.message->>'task_index')::int = t.task_index";
    assert_eq!(db.one(matching).await, "3");
    db.check().await;
}

#[tokio::test]
async fn message_ids_may_repeat_in_other_flows() {
    let db = Db::with(&(define("f", &["a"]) + &define("g", &["a"]))).await;
    let (f, g) = (db.start("f", "1").await, db.start("g", "1").await);
    assert_eq!(f.task("a", 0, "message_id").await, g.task("a", 0, "message_id").await);
    f.finish("a", "1").await;
    assert_eq!((f.status().await.as_str(), g.status().await.as_str()), ("completed", "started"));
    assert_eq!(db.queue("g").await, ["a#0"]);
    assert_eq!(db.archive("g").await, [""; 0]);
    db.check().await;
}
