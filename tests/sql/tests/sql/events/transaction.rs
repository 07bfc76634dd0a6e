//! Events and state are one transaction.

use crate::harness::{Db, define};

#[tokio::test]
async fn what_is_rolled_back_was_never_told() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let mut session = db.session().await;
    session.run(&format!("begin; select pgflow.complete_task('{}', 'a', 0, '1')", run.id)).await;
    assert_eq!(session.one("select count(*) from pgflow.events").await, "4");
    assert_eq!(run.events().await.len(), 2, "nobody else sees them yet");
    session.run("rollback").await;
    assert_eq!(run.events().await.len(), 2);
    run.complete("a", 0, "1").await;
    assert_eq!(run.events().await.len(), 4);
    db.check().await;
}

#[tokio::test]
async fn a_reader_with_a_cursor_misses_nothing() {
    let db = Db::with(&define("f", &["a", "b after a", "c after b"])).await;
    let run = db.start("f", "{}").await;
    let mut seen = 0;
    let mut names = Vec::new();
    for step in ["a", "b", "c", ""] {
        let new = format!(
            "select seq, event_type from pgflow.events where run_id = '{}' and seq > {seen} order by seq",
            run.id
        );
        for row in db.rows(&new).await {
            let (seq, name) = row.split_once('|').expect("two columns");
            assert_eq!(seq.parse::<u32>().expect("a number"), seen + 1);
            seen += 1;
            names.push(name.to_owned());
        }
        if !step.is_empty() {
            run.finish(step, "1").await;
        }
    }
    assert_eq!(names.len(), 8);
    db.check().await;
}
