//! Two at once.

use super::{announce, later, signal, wait, wait_call};
use crate::harness::{Db, Random, Waiting, define, long};

async fn waiting(db: &Db, more: &str) -> (String, uuid::Uuid) {
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let token = announce(&run, db, "a", 1).await;
    wait(&run, db, "a", 1, &format!(r#"{{"on": "hook", "token": "{token}"{more}}}"#)).await;
    (token, run.id)
}

/// Named and announced tokens, in both orders, a thousand times in the long mode: no signal gets lost.
#[tokio::test]
async fn a_signal_that_races_the_commit_of_its_wait_always_arrives() {
    let db = Db::with(&define("f", &["a"])).await;
    let (mut one, mut other) = (db.session().await, db.session().await);
    let mut random = Random::new();
    let mut first = [0, 0];
    for round in 0..if long() { 1000 } else { 250 } {
        let run = db.start("f", "{}").await;
        db.claim("f").await;
        let token =
            if round % 2 == 0 { announce(&run, &db, "a", 1).await } else { format!("t{round}") };
        let waits = wait_call(&run, "a", 1, &format!(r#"{{"on": "hook", "token": "{token}"}}"#));
        let signals = signal(&token, "1", "'r'");
        let head_start = std::time::Duration::from_micros(random.below(800) as u64);
        let (waited, sent) = tokio::join!(one.one(&waits), async {
            tokio::time::sleep(head_start).await;
            other.one(&signals).await
        });
        assert_eq!(waited, "applied");
        assert!(["delivered", "buffered"].contains(&sent.as_str()), "{sent}");
        first[usize::from(sent == "buffered")] += 1;
        assert_eq!(run.status().await, "completed", "round {round}: {sent}");
    }
    println!("delivered {}, kept {}", first[0], first[1]);
    db.check().await;
}

#[tokio::test]
async fn of_fifty_identical_signals_one_is_delivered() {
    let db = Db::with(&define("f", &["a"])).await;
    for named in [false, true] {
        let (mut token, run) = waiting(&db, "").await;
        if named {
            db.run(&format!("select pgflow.cancel_run('{run}')")).await;
            let run = db.start("f", "{}").await;
            db.claim("f").await;
            token = "named".to_owned();
            wait(&run, &db, "a", 1, r#"{"on": "hook", "token": "named"}"#).await;
        }
        let mut calls = Vec::new();
        for _ in 0..50 {
            let (mut session, call) = (db.session().await, signal(&token, "1", "'same'"));
            calls.push(tokio::spawn(async move { session.one(&call).await }));
        }
        let mut outcomes = Vec::new();
        for call in calls {
            outcomes.push(call.await.expect("no panic"));
        }
        outcomes.sort();
        assert_eq!(outcomes.iter().filter(|outcome| *outcome == "delivered").count(), 1);
        assert_eq!(
            outcomes.iter().filter(|outcome| *outcome == "duplicate").count(),
            49,
            "{outcomes:?}"
        );
    }
    db.check().await;
}

/// Whoever comes second finds that it is over.
#[tokio::test]
async fn a_signal_and_a_timeout_do_not_both_happen() {
    let db = Db::with(&define("f", &["a; max_attempts => 1"])).await;
    for signal_first in [true, false] {
        let (token, run) = waiting(&db, r#", "timeout": 5"#).await;
        later(&db, 5).await;
        let (sends, wakes) =
            (signal(&token, "1", "null"), "select timed_out from pgflow.wake_waits()".to_owned());
        let (first, second) = if signal_first { (&sends, &wakes) } else { (&wakes, &sends) };
        let mut session = db.session().await;
        session.run(&format!("begin; {first}")).await;
        let waits = Waiting::for_a_lock(&db, second).await;
        session.run("commit").await;
        let answer = waits.answer().await.expect("no deadlock");
        assert_eq!(answer, [if signal_first { "0" } else { "gone" }]);
        let status = format!("select status from pgflow.runs where run_id = '{run}'");
        assert_eq!(db.one(&status).await, if signal_first { "completed" } else { "failed" });
        db.check().await;
    }
}

#[tokio::test]
async fn a_signal_and_a_cancel_do_not_both_happen() {
    let db = Db::with(&define("f", &["a"])).await;
    for signal_first in [true, false] {
        let (token, run) = waiting(&db, "").await;
        let cancels = format!("select status from pgflow.cancel_run('{run}')");
        let sends = signal(&token, "1", "null");
        let (first, second) = if signal_first { (&sends, &cancels) } else { (&cancels, &sends) };
        let mut session = db.session().await;
        session.run(&format!("begin; {first}")).await;
        let waits = Waiting::for_a_lock(&db, second).await;
        session.run("commit").await;
        let answer = waits.answer().await.expect("no deadlock");
        assert_eq!(answer, [if signal_first { "completed" } else { "gone" }]);
        db.check().await;
    }
}

/// The last two of several children end at once: whoever tells the parent second sees what the first told.
#[tokio::test]
async fn the_parent_of_children_that_end_at_once_is_woken() {
    let db = Db::with(&(define("f", &["a"]) + &define("c", &["x"]))).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    wait(&run, &db, "a", 1, r#"{"on": "runs", "each": true, "children": [{"flow": "c", "input": 1}, {"flow": "c", "input": 2}]}"#).await;
    let children = super::started(&db, "c").await;
    db.claim("c").await;
    let complete =
        |at: usize| format!("select pgflow.complete_task('{}', 'x', 0, '{at}')", children[at]);
    db.run(&complete(0)).await;
    let mut first = db.session().await;
    first.run("begin; select pgflow.wake_waits()").await;
    // Who ends a child waits for nobody who holds the parent.
    db.run(&complete(1)).await;
    let second = Waiting::for_a_lock(&db, "select woken from pgflow.wake_waits()").await;
    first.run("commit").await;
    assert_eq!(second.answer().await.expect("no deadlock"), ["1"]);
    assert_eq!(run.status().await, "completed");
    db.check().await;
}
