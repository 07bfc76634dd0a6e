//! Ending an attempt by waiting.

use super::{announce, started, wait, wait_call};
use crate::harness::{Db, define};

#[tokio::test]
async fn a_task_that_waits_has_no_lease_and_no_message() {
    let db = Db::with(&define("f", &["a", "b after a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    assert_eq!(wait(&run, &db, "a", 1, r#"{"on": "hook", "token": "t"}"#).await, "applied");
    assert_eq!(run.tasks().await, ["a#0:waiting:1"]);
    assert_eq!(db.queue("f").await, [""; 0]);
    assert_eq!(db.claim("f").await.len(), 0);
    let beat = format!(
        "select outcome from pgflow.heartbeat(array['{}']::uuid[], array['a'], array[0], array[1])",
        run.id
    );
    assert_eq!(db.one(&beat).await, "lost");
    let listed = "select status from pgflow.list_runs(statuses => array['started'])";
    assert_eq!(db.rows(listed).await, ["started"], "a run that waits goes on");
    let event = run.event("step:waiting", Some("a")).await;
    assert_eq!((event["on"].as_str(), event["task_index"].as_i64()), (Some("hook"), Some(0)));
    assert!(!event.to_string().contains("\"t\""), "the token is a secret: {event}");
    db.check().await;
}

#[tokio::test]
async fn a_wait_is_fenced_as_every_settle() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let hook = r#"{"on": "hook", "token": "t"}"#;
    assert_eq!(wait(&run, &db, "a", 2, hook).await, "fenced");
    assert_eq!(wait(&run, &db, "x", 1, hook).await, "unknown");
    assert_eq!(run.tasks().await, ["a#0:started:1"]);
    assert_eq!(wait(&run, &db, "a", 1, hook).await, "applied");
    assert_eq!(wait(&run, &db, "a", 1, hook).await, "already_settled", "the answer got lost");
    assert_eq!(run.complete("a", 0, "1").await, ["waiting"], "an attempt that ended says no more");
    db.run(&format!("select pgflow.cancel_run('{}')", run.id)).await;
    assert_eq!(wait(&run, &db, "a", 1, hook).await, "run_ended");
    db.check().await;
}

/// Children exist if and only if the wait does: a settle that is fenced leaves none.
#[tokio::test]
async fn a_fenced_wait_starts_no_children() {
    let db = Db::with(&(define("f", &["a"]) + &define("c", &["x"]))).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let child = r#"{"on": "runs", "children": [{"flow": "c", "input": 1}]}"#;
    assert_eq!(wait(&run, &db, "a", 2, child).await, "fenced");
    assert_eq!(started(&db, "c").await.len(), 0);
    let undone = format!("begin; {}; rollback", wait_call(&run, "a", 1, child));
    db.session().await.run(&undone).await;
    assert_eq!(started(&db, "c").await.len(), 0);
    assert_eq!(wait(&run, &db, "a", 1, child).await, "applied");
    assert_eq!(wait(&run, &db, "a", 1, child).await, "already_settled");
    assert_eq!(started(&db, "c").await.len(), 1);
    db.check().await;
}

#[tokio::test]
async fn nonsense_is_refused_before_anything_is_locked() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    for nonsense in [
        r#"{"on": "nothing"}"#,
        r#"{"on": "hook"}"#,
        r#"{"on": "hook", "token": ""}"#,
        r#"{"on": "hook", "token": "t", "timeout": -1}"#,
        r#"{"on": "sleep"}"#,
        r#"{"on": "sleep", "for": 1, "at": 1}"#,
        r#"{"on": "runs"}"#,
        r#"{"on": "runs", "children": []}"#,
        r#"{"on": "jobs", "children": [1, 2]}"#,
        "[]",
    ] {
        assert_eq!(db.error(&wait_call(&run, "a", 1, nonsense)).await.code, "22023", "{nonsense}");
    }
    assert_eq!(run.tasks().await, ["a#0:started:1"]);
}

#[tokio::test]
async fn an_announced_token_is_the_same_for_all_attempts_and_of_no_other() {
    let db = Db::with(&define("f", &["a", "b"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let token = announce(&run, &db, "a", 1).await;
    assert!(token.starts_with("hk_") && token.len() == 46, "{token}");
    assert_eq!(announce(&run, &db, "a", 1).await, token);
    assert_ne!(announce(&run, &db, "b", 1).await, token);
    assert_eq!(announce(&run, &db, "a", 2).await, "NULL", "an attempt that is not there");
    run.fail("a", 0, "again").await;
    assert_eq!(announce(&run, &db, "a", 1).await, "NULL", "an attempt that is over");
    db.wake("f").await;
    db.claim("f").await;
    assert_eq!(announce(&run, &db, "a", 2).await, token);
    db.check().await;
}

/// A token that another task waits for fails the attempt, by the step's policy.
#[tokio::test]
async fn a_token_is_for_one_wait_at_a_time() {
    let db = Db::with(&define("f", &["a; max_attempts => 2", "b after a"])).await;
    let (one, other) = (db.start("f", "{}").await, db.start("f", "{}").await);
    db.claim("f").await;
    let hook = r#"{"on": "hook", "token": "t"}"#;
    assert_eq!(wait(&one, &db, "a", 1, hook).await, "applied");
    assert_eq!(wait(&other, &db, "a", 1, hook).await, "applied");
    assert_eq!(other.tasks().await, ["a#0:queued:1"]);
    let error = other.task("a", 0, "error_message").await;
    assert!(error.contains(&one.id.to_string()) && error.contains("taken"), "{error}");
    db.run("select pgflow.signal('t', '1')").await;
    db.wake("f").await;
    db.claim("f").await;
    assert_eq!(wait(&other, &db, "a", 2, hook).await, "applied");
    assert_eq!(other.tasks().await, ["a#0:waiting:2"], "it is free again");
    db.check().await;
}

#[tokio::test]
async fn tasks_of_a_batch_wait_each_for_its_own() {
    let db = Db::with(&define("f", &["m map", "z after m"])).await;
    let run = db.start("f", "[1, 2, 3]").await;
    db.claim("f").await;
    let outcomes = db
        .rows(&format!(
            "select outcome from pgflow.wait_tasks(array_fill('{}'::uuid, array[3]), array['m', 'm', 'm'], array[2, 0, 1], array[1, 1, 1],
             array['{{\"on\": \"hook\", \"token\": \"t2\"}}'::jsonb, '{{\"on\": \"sleep\", \"for\": 0}}', '{{\"on\": \"hook\", \"token\": \"t1\"}}'])",
            run.id
        ))
        .await;
    assert_eq!(outcomes, ["applied"; 3]);
    assert_eq!(run.tasks().await, ["m#0:completed:1", "m#1:waiting:1", "m#2:waiting:1"]);
    db.check().await;
    for (token, payload) in [("t2", "\"c\""), ("t1", "\"b\"")] {
        db.run(&super::signal(token, payload, "null")).await;
    }
    assert_eq!(run.step("m", "output").await, r#"[null, "b", "c"]"#);
    run.finish("z", "1").await;
    assert_eq!(run.status().await, "completed");
    db.check().await;
}
