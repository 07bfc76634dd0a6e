//! Maps over the run's input.

use serde_json::json;

use crate::harness::{Db, define};

#[tokio::test]
async fn a_root_map_has_a_task_per_element() {
    let db = Db::with(&define("f", &["m map"])).await;
    let run = db.start("f", r#"[10, null, {"a": 1}]"#).await;
    assert_eq!(run.step("m", "status, initial_tasks, remaining_tasks").await, "started|3|3");
    assert_eq!(run.tasks().await, ["m#0:queued:0", "m#1:queued:0", "m#2:queued:0"]);
    let inputs: Vec<_> = db.claim("f").await.into_iter().map(|task| task.input).collect();
    assert_eq!(inputs, [json!(10), json!(null), json!({"a": 1})]);
    db.check().await;
}

#[tokio::test]
async fn messages_are_in_the_order_of_the_elements() {
    let db = Db::with(&define("f", &["m map"])).await;
    db.start("f", "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]").await;
    let unordered = "select count(*) from pgflow.step_tasks a join pgflow.step_tasks b
        on a.task_index < b.task_index and a.message_id > b.message_id";
    assert_eq!(db.one(unordered).await, "0");
    let wrong =
        "select count(*) from pgflow.step_tasks t join pgmq.q_f q on q.msg_id = t.message_id
        where (q.message->>'task_index')::int <> t.task_index";
    assert_eq!(db.one(wrong).await, "0");
    db.check().await;
}

#[tokio::test]
async fn an_empty_array_completes_the_map_at_once() {
    let db = Db::with(&define("f", &["m map"])).await;
    let run = db.start("f", "[]").await;
    assert_eq!(run.get("status, output").await, r#"completed|{"m": []}"#);
    assert_eq!(run.tasks().await, [""; 0]);
    db.check().await;
}

#[tokio::test]
async fn a_root_map_and_a_root_single_share_the_input() {
    let db = Db::with(&define("f", &["a", "m map"])).await;
    db.start("f", "[7]").await;
    let tasks = db.claim("f").await;
    let inputs: Vec<_> = tasks.iter().map(|task| (task.name(), task.input.clone())).collect();
    assert_eq!(inputs, [("a#0".to_owned(), json!({"run": [7]})), ("m#0".to_owned(), json!(7))]);
    db.check().await;
}

#[tokio::test]
async fn a_root_map_needs_an_array() {
    let db = Db::with(&define("f", &["a", "m map"])).await;
    for (input, text) in [
        ("null", "Flow f has root map steps but input is NULL"),
        ("'null'", "Flow f has root map steps but input is not an array (got null)"),
        ("'{}'", "Flow f has root map steps but input is not an array (got object)"),
        ("'1'", "Flow f has root map steps but input is not an array (got number)"),
        ("'\"x\"'", "Flow f has root map steps but input is not an array (got string)"),
        ("'true'", "Flow f has root map steps but input is not an array (got boolean)"),
    ] {
        let failure = db.error(&format!("select pgflow.start_flow('f', {input})")).await;
        assert_eq!(failure.to_string(), format!("P0001 {text}"));
    }
    assert_eq!(db.one("select count(*) from pgflow.runs").await, "0");
    db.check().await;
}
