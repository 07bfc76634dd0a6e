//! Hostile text in every text argument of every function.

use serde_json::json;

use super::calls::{functions, harmless};
use super::schema_dump::{assert_same, dump};
use crate::harness::{Db, define, lit};

fn hostile() -> Vec<String> {
    let mut texts: Vec<_> = [
        "'; drop table pgflow.runs; --",
        "\"; drop table pgflow.runs; --",
        "f'); drop table pgflow.runs; --",
        "f; drop table pgflow.runs",
        "$$; drop table pgflow.runs; $$",
        "f\" set vt = now(); drop table pgflow.runs; --",
        "\\'; drop table pgflow.runs; --",
        "%s%I%L%1$s",
        "%",
        "\\",
        "'",
        "\"",
        "🦀",
        "\u{202e}abc",
        "",
        " ",
        "../../etc",
        "pgflow.runs",
    ]
    .map(str::to_owned)
    .to_vec();
    texts.push("a".repeat(300));
    texts
}

/// Makes whatever it is told; its only caller gives it a slug that was checked.
const LITERAL_MINDED: &[&str] = &["_create_queue"];

/// The hostile text as a value of a type, if it can be one.
fn attack(kind: &str, text: &str) -> Option<String> {
    let in_json = json!({"steps": [{"slug": text, "stepType": text, "dependencies": [text], "whenUnmet": text}]});
    match kind {
        "text" => Some(lit(text)),
        "text[]" => Some(format!("array[{}]", lit(text))),
        "jsonb" => Some(format!("{}::jsonb", lit(&in_json.to_string()))),
        "jsonb[]" => Some(format!("array[{}::jsonb]", lit(&in_json.to_string()))),
        _ => None,
    }
}

/// Every call with one hostile argument.
fn calls(functions: &[(String, Vec<String>)], run: &str) -> Vec<String> {
    let mut calls = Vec::new();
    for (name, types) in
        functions.iter().filter(|(name, _)| !LITERAL_MINDED.contains(&name.as_str()))
    {
        for place in 0..types.len() {
            for text in hostile() {
                let Some(value) = attack(&types[place], &text) else { continue };
                let mut arguments: Vec<_> = types.iter().map(|kind| harmless(kind, run)).collect();
                arguments[place] = value;
                calls.push(format!("select pgflow.{name}({})", arguments.join(", ")));
            }
        }
    }
    calls
}

#[tokio::test]
async fn no_text_becomes_sql() {
    let db = Db::with(&(define("f", &["a", "b after a"]) + &define("other", &["a"]))).await;
    let run = db.start("other", "{}").await;
    let before = dump(&db).await;
    let mut session = db.session().await;
    session.run("set statement_timeout = '20s'").await;
    let calls = calls(&functions(&db).await, &run.id.to_string());
    assert!(calls.len() > 500, "{} calls", calls.len());
    for call in calls {
        if let Err(failure) = session.ask(&call).await {
            let broken = ["42601", "57014"].contains(&failure.code.as_str())
                || failure.code.starts_with("XX");
            assert!(!broken, "{failure}\n{call}");
        }
    }
    assert_same(&before, &dump(&db).await);
}
