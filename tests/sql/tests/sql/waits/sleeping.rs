//! Waiting for a moment, and too long.

use super::{later, signal, wait};
use crate::harness::{Db, Task, define};

#[tokio::test]
async fn a_sleep_ends_with_a_claim() {
    let db = Db::with(&define("f", &["a", "b after a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    wait(&run, &db, "a", 1, r#"{"on": "sleep", "for": 3600000000}"#).await;
    assert_eq!(db.claim("f").await.len(), 0);
    let next =
        "select pgflow.next_wait(array['f']) between 3590 and 3600, pgflow.next_wait(array['g'])";
    assert_eq!(db.one(next).await, "t|NULL");
    later(&db, 3600).await;
    let claimed = db.claim("f").await;
    assert_eq!(claimed.iter().map(Task::name).collect::<Vec<_>>(), ["b#0"]);
    assert_eq!(run.step("a", "output").await, "null");
    assert_eq!(run.events().await[2..4], ["step:a:waiting", "step:a:woken"]);
    db.check().await;
}

/// Of flows that nobody claims, and while somebody holds the run, a sleep ends with a sweep.
#[tokio::test]
async fn a_claim_waits_for_no_run_that_is_to_wake() {
    let db = Db::with(&define("f", &["a", "b after a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    wait(&run, &db, "a", 1, r#"{"on": "sleep", "for": 1000000}"#).await;
    later(&db, 10).await;
    let mut holder = db.session().await;
    holder
        .run(&format!("begin; select from pgflow.runs where run_id = '{}' for update", run.id))
        .await;
    let mut worker = db.session().await;
    worker.run("set statement_timeout = '10s'").await;
    let claimed = worker.rows("select run_id from pgflow.claim_tasks(array['f'], 1)").await;
    assert_eq!(claimed, [""; 0], "it would have to wait");
    holder.run("commit").await;
    assert_eq!(db.one("select pgflow.needs_waking()").await, "t");
    assert_eq!(db.one("select woken, timed_out from pgflow.wake_waits()").await, "1|0");
    assert_eq!(db.one("select pgflow.needs_waking()").await, "f");
    assert_eq!(db.claim("f").await.len(), 1);
    db.check().await;
}

#[tokio::test]
async fn a_sleep_until_a_moment_that_is_past_is_over_at_once() {
    let db = Db::with(&define("f", &["a", "b after a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    assert_eq!(wait(&run, &db, "a", 1, r#"{"on": "sleep", "at": 0}"#).await, "applied");
    assert_eq!(run.steps().await, ["a:completed", "b:started"]);
    assert_eq!(db.queue("f").await, ["b#0"]);
    db.check().await;
}

/// By the step's policy: another attempt, then the end.
#[tokio::test]
async fn who_waits_too_long_fails_as_any_attempt() {
    let db =
        Db::with(&define("f", &["a; max_attempts => 2, when_exhausted => 'skip'", "b after a"]))
            .await;
    let run = db.start("f", "{}").await;
    for attempt in 1..=2 {
        db.claim("f").await;
        wait(&run, &db, "a", attempt, r#"{"on": "hook", "token": "t", "timeout": 60}"#).await;
        assert_eq!(db.one("select timed_out from pgflow.wake_waits()").await, "0");
        later(&db, 60).await;
        db.check().await;
        assert_eq!(db.one("select timed_out from pgflow.wake_waits()").await, "1");
        assert_eq!(run.task("a", 0, "error_message").await, "nobody answered within 60 s");
        db.check().await;
        db.wake("f").await;
    }
    assert_eq!(run.steps().await, ["a:skipped", "b:started"]);
    assert_eq!(
        run.events().await[2..],
        [
            "step:a:waiting",
            "step:a:wait_timed_out",
            "step:a:waiting",
            "step:a:wait_timed_out",
            "step:a:skipped",
            "step:b:started"
        ]
    );
    assert_eq!(db.one(&signal("t", "1", "null")).await, "buffered", "the token is free");
    db.check().await;
}

#[tokio::test]
async fn a_retry_after_a_timeout_comes_after_the_back_off() {
    let db = Db::with(
        "select pgflow.create_flow('f', base_delay => 100); select pgflow.add_step('f', 'a')",
    )
    .await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    wait(&run, &db, "a", 1, r#"{"on": "hook", "token": "t", "timeout": 1}"#).await;
    later(&db, 1).await;
    let hidden = db.hides("f", "select pgflow.wake_waits()").await;
    assert!(hidden == ["a:200"] || hidden == ["a:199"], "{hidden:?}");
    db.check().await;
}
