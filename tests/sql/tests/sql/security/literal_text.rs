//! Text that is data stays the same text.

use crate::harness::{Db, define, lit};

const ODD: [&str; 5] =
    ["'; drop table pgflow.runs; --", "\" \\ ' $$ %I", "🦀 \u{202e}", "\t\n", ""];

#[tokio::test]
async fn errors_reasons_and_worker_names_are_kept_as_they_are() {
    let db = Db::with(&define("f", &["a; max_attempts => 1"])).await;
    for odd in ODD {
        let run = db.start("f", "{}").await;
        db.claim("f").await;
        run.fail("a", 0, odd).await;
        assert_eq!(run.step("a", "error_message").await, odd);
        assert_eq!(run.event("run:failed", None).await["error_message"], odd);
        let insert = "insert into pgflow.workers (worker_id, queue_name, function_name) values (gen_random_uuid(),";
        let row = format!("{insert} {0}, {0}) returning function_name", lit(odd));
        assert_eq!(db.one(&row).await, odd);
        db.run(&format!("select pgflow.track_worker_function({})", lit(odd))).await;
    }
    let names = db.rows("select function_name from pgflow.worker_functions").await;
    assert_eq!(names.len(), ODD.len());
    db.check().await;
}

#[tokio::test]
async fn payloads_are_kept_as_they_are() {
    let db = Db::with(&define("f", &["a"])).await;
    for odd in ODD {
        let value = serde_json::json!({odd: [odd]});
        let run = db.start("f", &value.to_string()).await;
        let task = db.claim("f").await.remove(0);
        assert_eq!(task.input["run"], value);
        run.complete("a", 0, value.to_string().as_str()).await;
        let output: serde_json::Value =
            serde_json::from_str(&run.get("output->'a'").await).expect("JSON");
        assert_eq!(output, value);
    }
    db.check().await;
}

#[tokio::test]
async fn a_nul_in_json_is_refused_before_anything_is_written() {
    let db = Db::with(&define("f", &["a"])).await;
    let failure = db.error(r#"select pgflow.start_flow('f', '{"a": "\u0000"}')"#).await;
    assert_eq!(failure.code, "22P05");
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let complete = format!(r#"select pgflow.complete_task('{}', 'a', 0, '["\u0000"]')"#, run.id);
    assert_eq!(db.error(&complete).await.code, "22P05");
    assert_eq!(run.tasks().await, ["a#0:started:1"]);
    db.check().await;
}
