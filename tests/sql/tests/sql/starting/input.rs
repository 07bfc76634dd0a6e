//! Any JSON value is an input.

use crate::harness::{Db, define, lit};

#[tokio::test]
async fn every_kind_of_json_goes_in_and_out_unchanged() {
    let db = Db::with(&define("f", &["a"])).await;
    for input in
        ["null", "0", "false", "\"\"", "[]", "{}", "[null]", "100", "-0.5", "\"é 🦀 \\\\ ' \\\"\""]
    {
        let run = db.start("f", input).await;
        assert_eq!(run.get(&format!("input = {}::jsonb", lit(input))).await, "t", "{input}");
        let tasks = db.claim("f").await;
        let expected: serde_json::Value = serde_json::from_str(input).expect("JSON");
        assert_eq!(tasks[0].input["run"], expected, "{input}");
        assert_eq!(tasks[0].input.as_object().map(serde_json::Map::len), Some(1));
    }
    db.check().await;
}

#[tokio::test]
async fn sql_null_is_no_input() {
    let db = Db::with(&define("f", &["a"])).await;
    let failure = db.error("select pgflow.start_flow('f', null)").await;
    assert_eq!(failure.code, "23502");
    assert!(
        failure.message.contains("\"input\"") && failure.message.contains("\"runs\""),
        "{failure}"
    );
    assert_eq!(db.one("select count(*) from pgflow.runs").await, "0");
    db.check().await;
}
