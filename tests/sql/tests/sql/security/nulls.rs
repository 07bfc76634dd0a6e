//! NULL in every argument of every function.

use super::calls::{functions, harmless};
use crate::harness::{Db, define};

/// One call per argument with NULL in its place, and one with NULL everywhere.
fn calls(functions: &[(String, Vec<String>)], run: &str) -> Vec<String> {
    let mut calls = Vec::new();
    for (name, types) in functions.iter().filter(|(name, _)| !name.starts_with('_')) {
        let nulls: Vec<_> = types.iter().map(|kind| format!("null::{kind}")).collect();
        for place in 0..types.len() {
            let mut arguments: Vec<_> = types.iter().map(|kind| harmless(kind, run)).collect();
            arguments[place].clone_from(&nulls[place]);
            calls.push(format!("select pgflow.{name}({})", arguments.join(", ")));
        }
        calls.push(format!("select pgflow.{name}({})", nulls.join(", ")));
    }
    calls
}

#[tokio::test]
async fn a_null_is_ignored_or_refused_and_breaks_nothing() {
    let db = Db::with(&(define("f", &["a"]) + &define("other", &["a", "b after a"]))).await;
    let run = db.start("other", "{}").await;
    db.claim("other").await;
    let mut session = db.session().await;
    session.run("set statement_timeout = '20s'").await;
    let calls = calls(&functions(&db).await, &run.id.to_string());
    assert!(calls.len() > 80, "{} calls", calls.len());
    for call in calls {
        if let Err(failure) = session.ask(&call).await {
            let understood = ["22", "23", "P0", "54", "55000", "02", "42P01"];
            assert!(
                understood.iter().any(|class| failure.code.starts_with(class)),
                "{failure}\n{call}"
            );
            assert!(!failure.message.contains("dimension values"), "{failure}\n{call}");
        }
        db.check().await;
    }
}
