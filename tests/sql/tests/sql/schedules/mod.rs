//! Schedules, as psql sees them.

mod firing;
mod racing;

use crate::harness::{Db, define};

async fn database() -> Db {
    Db::with(&define("f", &["a"])).await
}

#[tokio::test]
async fn a_schedule_is_made_with_a_first_moment_or_left_to_a_worker() {
    let db = database().await;
    let made = db.rows("select pgflow.create_schedule('later', 'f', '@daily')").await;
    assert_eq!(made, ["created"]);
    let first = "select pgflow.create_schedule('first', 'f', '@daily', first_at => now() + interval '1 hour')";
    assert_eq!(db.rows(first).await, ["created"]);
    let standing = "select name, status, next_at > now() from pgflow.list_schedules()";
    assert_eq!(db.rows(standing).await, ["first|active|t", "later|pending|NULL"]);
    let due = "select name from pgflow.due_schedules(array['f'], now(), 10)";
    assert_eq!(db.rows(due).await, ["later"], "a worker has to find out when");
    let next = "select upcoming > now_at from pgflow.next_schedule(array['f'])";
    assert_eq!(db.rows(next).await, ["t"]);
    let again = "select pgflow.create_schedule('later', 'f', '@daily')";
    assert_eq!(db.rows(again).await, ["unchanged"]);
    assert_eq!(db.rows("select pgflow.pause_schedule('later')").await, ["t"]);
    assert_eq!(db.rows("select pgflow.pause_schedule('later')").await, ["f"]);
    assert_eq!(db.rows("select pgflow.pause_schedule('none')").await, ["NULL"]);
    assert_eq!(db.rows("select pgflow.resume_schedule('later')").await, ["t"]);
    assert_eq!(db.rows("select pgflow.remove_schedule('later')").await, ["t"]);
    db.check().await;
}

#[tokio::test]
async fn what_cannot_be_is_refused() {
    let db = database().await;
    let mut session = db.session().await;
    for (call, said) in [
        ("pgflow.create_schedule('s', 'none', '@daily')", "not found"),
        (
            "pgflow.create_schedule('s', 'f', '@daily', first_at => now() - interval '1 hour')",
            "past",
        ),
        (
            "pgflow.create_schedule('s', 'f', '@daily', missed => 'all(0)')",
            "`all(0)` is no word for missed moments: it may be `skip`, `last` or `all(1)` to `all(1000)`",
        ),
        ("pgflow.create_schedule('s', 'f', '@daily', missed => null)", "missed moments"),
        ("pgflow.create_schedule('s', 'f', '@daily', overlap => 'some')", "`some` is no word"),
        ("pgflow.create_schedule('', 'f', '@daily')", "1 to 128 bytes"),
        ("pgflow.create_schedule('s', 'f', '@daily', first_at => 'infinity')", "no clock"),
        ("pgflow.create_schedule('s', 'f', '@daily', begins_at => '-infinity')", "no clock"),
        ("pgflow.create_schedule('s', 'f', '@daily', begins_at => '200000-01-01')", "no clock"),
    ] {
        let answer = session.ask(&format!("select {call}")).await;
        let error = answer.expect_err(call).to_string();
        assert!(error.contains(said), "{call}: {error}");
        assert!(!error.contains("Failing row"), "{call}: {error}");
    }
    assert_eq!(db.rows("select count(*) from pgflow.schedules").await, ["0"]);
}

#[tokio::test]
async fn a_run_can_begin_later() {
    let db = database().await;
    db.run("select pgflow.start_run('f', '1', delay => interval '1 hour')").await;
    db.run("select pgflow.start_run('f', '1', begins_at => now() + interval '2 hours')").await;
    db.run("select pgflow.start_run('f', '1', begins_at => now() - interval '2 hours')").await;
    let waits =
        "select extract(hour from vt - now() + interval '1 minute')::int from pgmq.q_f order by vt";
    assert_eq!(db.rows(waits).await, ["0", "1", "2"]);
    db.check().await;
}

#[tokio::test]
async fn familiar_views_show_what_there_is() {
    let db = database().await;
    let run = db.start("f", "7").await;
    db.run("select pgflow.append_chunks('logs', 'me', 0, '{x}')").await;
    let id = run.id;
    let runs = "select run_id, workflow_name, status, input from pgflow.workflow_runs";
    assert_eq!(db.rows(runs).await, [format!("{id}|f|started|7")]);
    let steps = "select run_id, step_name, status, tasks from pgflow.workflow_steps";
    assert_eq!(db.rows(steps).await, [format!("{id}|a|started|1")]);
    let events = "select seq, event_type, step_name from pgflow.workflow_events order by 1";
    assert_eq!(db.rows(events).await, ["1|run:started|NULL", "2|step:started|a"]);
    let chunks = "select stream_name, run_id, number from pgflow.workflow_stream_chunks";
    assert_eq!(db.rows(chunks).await, ["logs|NULL|0"]);
    assert_eq!(db.rows("select count(*) from pgflow.workflow_jobs").await, ["0"]);
}
