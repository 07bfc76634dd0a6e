//! Two at once.

use super::{append, texts};
use crate::harness::{Db, Waiting, define};

/// A writer that stops before its commit keeps the others waiting: they cannot be ahead of it, so no reader passes it.
#[tokio::test]
async fn a_writer_paused_before_its_commit_is_never_passed() {
    let db = Db::new().await;
    db.run(&append("logs", "first", 0, &["a"])).await;
    let mut paused = db.session().await;
    paused.run("begin").await;
    paused.run(&append("logs", "first", 1, &["b"])).await;
    let second = Waiting::for_a_lock(&db, &append("logs", "second", 0, &["c"])).await;
    assert_eq!(texts(&db, "logs").await, ["0|a"], "nothing after what is not there");
    paused.run("commit").await;
    assert_eq!(second.answer().await.expect("it goes on"), ["appended|2|1"]);
    assert_eq!(texts(&db, "logs").await, ["0|a", "1|b", "2|c"]);
    db.check().await;
}

#[tokio::test]
async fn a_writer_that_gave_up_leaves_no_gap() {
    let db = Db::new().await;
    let mut paused = db.session().await;
    paused.run("begin").await;
    paused.run(&append("logs", "first", 0, &["a", "b"])).await;
    let second = Waiting::for_a_lock(&db, &append("logs", "second", 0, &["c"])).await;
    paused.run("rollback").await;
    assert_eq!(second.answer().await.expect("it goes on"), ["appended|0|1"]);
    assert_eq!(texts(&db, "logs").await, ["0|c"]);
    db.check().await;
}

/// What readers take for abandoned must not grow: whoever takes the task away waits for the append.
#[tokio::test]
async fn a_task_is_not_taken_away_while_its_attempt_writes() {
    let db = Db::with(&define("f", &["a; max_attempts => 1"])).await;
    let run = db.start("f", "1").await;
    db.claim("f").await;
    let mut paused = db.session().await;
    paused.run("begin").await;
    let append = format!(
        "select outcome from pgflow.append_step_chunks('{}', 'a', 0, 1, 0, array['x'::bytea])",
        run.id
    );
    assert_eq!(paused.one(&append).await, "appended");
    let cancel = format!("select pgflow.cancel_run('{}')", run.id);
    let cancelling = Waiting::for_a_lock(&db, &cancel).await;
    paused.run("commit").await;
    cancelling.answer().await.expect("it is cancelled");
    let read =
        format!("select number, error, is_over from pgflow.read_step_chunks('{}', 'a')", run.id);
    assert_eq!(db.one(&read).await, "0|abandoned|t");
    db.check().await;
}
