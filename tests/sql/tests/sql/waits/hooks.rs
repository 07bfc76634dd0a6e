//! Signals.

use super::{announce, later, signal, wait};
use crate::harness::{Db, define};

const SCHEMA: &str =
    r#"{"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}}"#;

#[tokio::test]
async fn a_signal_completes_the_task_and_starts_what_follows() {
    let db = Db::with(&define("f", &["a", "b after a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let token = announce(&run, &db, "a", 1).await;
    wait(
        &run,
        &db,
        "a",
        1,
        &format!(r#"{{"on": "hook", "token": "{token}", "schema": {SCHEMA}}}"#),
    )
    .await;
    let rejected = format!(
        "select outcome, path, message from pgflow.signal('{token}', '{{\"ok\": 1}}', 'r')"
    );
    assert_eq!(db.one(&rejected).await, "rejected|/ok|expected boolean, found number");
    assert_eq!(run.tasks().await, ["a#0:waiting:1"], "the wait stays open");
    let call = format!(
        "select outcome, run_id, step_slug, task_index from pgflow.signal('{token}', '{{\"ok\": true}}', 'r')"
    );
    assert_eq!(db.one(&call).await, format!("delivered|{}|a|0", run.id));
    assert_eq!(run.steps().await, ["a:completed", "b:started"]);
    assert_eq!(run.step("a", "output").await, r#"{"ok": true}"#);
    assert_eq!(
        run.events().await[2..],
        ["step:a:waiting", "step:a:signalled", "step:a:completed", "step:b:started"]
    );
    assert_eq!(db.one(&signal(&token, r#"{"ok": true}"#, "'r'")).await, "duplicate");
    assert_eq!(db.one(&signal(&token, "1", "'r'")).await, "conflict");
    assert_eq!(db.one(&signal(&token, "1", "'other'")).await, "gone");
    assert_eq!(db.one(&signal(&token, "1", "null")).await, "gone");
    assert_eq!(db.one(&signal("hk_unknown", "1", "null")).await, "gone");
    db.check().await;
}

/// It would not see who came to wait since it began.
#[tokio::test]
async fn a_signal_in_a_stricter_transaction_is_refused() {
    let db = Db::new().await;
    for level in ["repeatable read", "serializable"] {
        let mut session = db.session().await;
        session.run(&format!("begin isolation level {level}")).await;
        let error = session.error("select pgflow.signal('order-42', '1')").await;
        assert_eq!(error.code, "0A000", "{level}");
    }
    assert_eq!(db.one("select count(*) from pgflow.signals").await, "0");
}

/// The mail may be answered before the attempt has ended.
#[tokio::test]
async fn a_signal_that_comes_before_the_wait_is_kept() {
    let db = Db::with(&define("f", &["a", "b after a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let token = announce(&run, &db, "a", 1).await;
    assert_eq!(db.one(&signal(&token, "7", "'r'")).await, "buffered");
    assert_eq!(db.one(&signal(&token, "7", "'r'")).await, "duplicate");
    assert_eq!(db.one(&signal(&token, "8", "'r'")).await, "conflict");
    db.check().await;
    wait(&run, &db, "a", 1, &format!(r#"{{"on": "hook", "token": "{token}"}}"#)).await;
    assert_eq!(run.step("a", "output").await, "7");
    assert_eq!(db.one(&signal(&token, "7", "'r'")).await, "duplicate");
    assert_eq!(db.one(&signal(&token, "8", "'r'")).await, "conflict");
    // One that somebody chose needs no task yet.
    assert_eq!(db.one(&signal("early", "9", "'r'")).await, "buffered");
    db.claim("f").await;
    wait(&run, &db, "b", 1, r#"{"on": "hook", "token": "early"}"#).await;
    assert_eq!(run.get("output").await, r#"{"b": 9}"#);
    assert_eq!(db.one(&signal("early", "9", "'r'")).await, "duplicate");
    assert_eq!(db.one(&signal("early", "8", "'r'")).await, "conflict");
    assert_eq!(db.one(&signal("early", "9", "'other'")).await, "buffered", "it is free again");
    db.check().await;
}

#[tokio::test]
async fn what_was_kept_and_does_not_fit_is_dropped() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    for payload in ["1", r#"{"ok": 0}"#, r#"{"ok": true}"#, r#"{"ok": false}"#] {
        assert_eq!(db.one(&signal("t", payload, "null")).await, "buffered");
    }
    wait(&run, &db, "a", 1, &format!(r#"{{"on": "hook", "token": "t", "schema": {SCHEMA}}}"#))
        .await;
    assert_eq!(run.step("a", "output").await, r#"{"ok": true}"#);
    let dropped = "select payload ->> 'path', payload ? 'message' from pgflow.read_events(
      (select run_id from pgflow.runs), 0, 100) where event_type = 'step:signal_dropped' order by seq";
    assert_eq!(db.rows(dropped).await, ["|t", "/ok|t"], "the log says it");
    assert_eq!(db.rows("select payload from pgflow.signals").await, [r#"{"ok": false}"#]);
    db.check().await;
}

#[tokio::test]
async fn a_task_can_be_signalled_without_its_token() {
    let db = Db::with(&define("f", &["a", "b after a"])).await;
    let run = db.start("f", "{}").await;
    let call = |step: &str, resume: &str| {
        format!(
            "select outcome from pgflow.signal_task('{}', '{step}', 0, '5', '{resume}')",
            run.id
        )
    };
    assert_eq!(db.one(&call("b", "r")).await, "buffered", "its step has not begun");
    assert_eq!(db.one(&call("b", "r")).await, "duplicate");
    assert_eq!(db.one(&call("x", "r")).await, "gone");
    db.claim("f").await;
    wait(&run, &db, "a", 1, r#"{"on": "hook", "token": "t"}"#).await;
    assert_eq!(db.one(&call("a", "r")).await, "delivered");
    assert_eq!(db.one(&call("a", "r")).await, "duplicate");
    assert_eq!(db.one(&call("a", "s")).await, "gone");
    db.check().await;
    db.claim("f").await;
    wait(&run, &db, "b", 1, r#"{"on": "hook", "token": "t"}"#).await;
    assert_eq!(run.get("output").await, r#"{"b": 5}"#);
    assert_eq!(db.one(&call("b", "s")).await, "gone", "the run is over");
    let unknown = "select outcome from pgflow.signal_task(gen_random_uuid(), 'a', 0, '5')";
    assert_eq!(db.one(unknown).await, "gone");
    db.check().await;
}

/// A signal is part of its caller's transaction.
#[tokio::test]
async fn a_signal_that_is_rolled_back_was_not_sent() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    wait(&run, &db, "a", 1, r#"{"on": "hook", "token": "t"}"#).await;
    let undone = format!("begin; {}; rollback", signal("t", "1", "'r'"));
    db.session().await.run(&undone).await;
    assert_eq!(run.tasks().await, ["a#0:waiting:1"]);
    assert_eq!(db.one(&signal("t", "1", "'r'")).await, "delivered");
    assert_eq!(run.status().await, "completed");
    db.check().await;
}

#[tokio::test]
async fn nonsense_is_no_signal() {
    let db = Db::new().await;
    for (call, code) in [
        ("signal('', '1')", "22023"),
        ("signal(repeat('t', 201), '1')", "22023"),
        ("signal(E'a\\nb', '1')", "22023"),
        ("signal('t', '1', '')", "22023"),
        ("signal('t', '1', repeat('r', 201))", "22023"),
        ("signal('t', null)", "22004"),
        ("signal('t', '1', 'r', '-1 second')", "22023"),
        ("signal('t', to_jsonb(repeat('x', 5000000)))", "54000"),
    ] {
        assert_eq!(db.error(&format!("select pgflow.{call}")).await.code, code, "{call}");
    }
    assert_eq!(db.one("select count(*) from pgflow.signals").await, "0");
}

/// A map after the hook would get too many tasks: the sender is told, and the wait goes on.
#[tokio::test]
async fn too_wide_a_payload_is_rejected() {
    let db = Db::with(&define("f", &["a", "m map after a"])).await;
    db.run("update pgflow.limits set max_fanout = 1000").await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    wait(&run, &db, "a", 1, r#"{"on": "hook", "token": "t"}"#).await;
    let wide = "select outcome, path from pgflow.signal('t', (select to_jsonb(array_agg(n)) from generate_series(1, 1001) n))";
    assert_eq!(db.one(wide).await, "rejected|");
    assert_eq!(db.one(&signal("t", "[1, 2]", "null")).await, "delivered");
    assert_eq!(db.queue("f").await, ["m#0", "m#1"]);
    db.check().await;
}

#[tokio::test]
async fn what_nobody_waited_for_in_time_is_deleted() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.run("select pgflow.signal('t', '1', 'r', '1 minute')").await;
    db.run("select pgflow.signal('t', '2', 's', '1 hour')").await;
    later(&db, 120).await;
    db.claim("f").await;
    wait(&run, &db, "a", 1, r#"{"on": "hook", "token": "t"}"#).await;
    assert_eq!(run.step("a", "output").await, "2", "the first is too old");
    assert_eq!(db.one("select expired from pgflow.wake_waits()").await, "1");
    assert_eq!(db.one(&signal("t", "1", "'r'")).await, "buffered");
    db.check().await;
}

/// Whatever the collation takes for a control character.
#[tokio::test]
async fn characters_are_printable_here_and_in_programs_alike() {
    let db = Db::new().await;
    let refused = db
        .one(
            "select string_agg(n::text, ',' order by n)
               from generate_series(1, 65535) n
              where n not between 55296 and 57343 and not pgflow._is_printable(chr(n))",
        )
        .await;
    let control = (1..=0xffff).filter_map(char::from_u32).filter(|c| c.is_control());
    let control: Vec<_> = control.map(|c| u32::from(c).to_string()).collect();
    assert_eq!(refused, control.join(","));
    for number in [133, 8232] {
        let is_control = char::from_u32(number).is_some_and(char::is_control);
        let token = format!("select pgflow._is_token('order' || chr({number}))");
        assert_eq!(db.one(&token).await, if is_control { "f" } else { "t" });
        let call =
            format!("select outcome from pgflow.signal('order', '1', 'mail' || chr({number}))");
        let outcome = if is_control { db.error(&call).await.code } else { db.one(&call).await };
        assert_eq!(outcome, if is_control { "22023" } else { "buffered" });
    }
}
