//! Waits, their children, hooks and signals.

use super::bench::{Break, each_is_reported_on};
use crate::harness::{Db, define};
use crate::waits::{announce, wait as wait_for};

/// Waits of every kind, with children in every state, and signals that were kept and delivered.
pub(super) async fn database() -> Db {
    let flows = define("f", &["a", "b after a"]) + &define("c", &["x; max_attempts => 1"]);
    let db = Db::with(&flows).await;
    let two = r#""each": true, "children": [{"flow": "c", "input": 1}, {"flow": "c", "input": 2}]"#;
    for (name, wait) in [
        ("named", r#"{"on": "hook", "token": "t", "timeout": 60, "schema": {"type": "number"}}"#.to_owned()),
        ("announced", r#"{"on": "hook", "token": "TOKEN"}"#.to_owned()),
        ("delivered", r#"{"on": "hook", "token": "TOKEN"}"#.to_owned()),
        ("sleep", r#"{"on": "sleep", "for": 60000000}"#.to_owned()),
        ("told", format!(r#"{{"on": "runs", {two}}}"#)),
        ("failed", format!(r#"{{"on": "runs", "outcomes": true, {two}}}"#)),
        ("left", format!(r#"{{"on": "runs", {two}}}"#)),
        ("jobs", r#"{"on": "jobs", "each": true, "children": [{"id": "j1", "need": "n"}, {"id": "j2", "need": "n"}]}"#.to_owned()),
        // Last, because whoever wakes tells all.
        ("untold", format!(r#"{{"on": "runs", "detached": true, {two}}}"#)),
    ] {
        let run = db.start("f", &format!("{{\"name\": \"{name}\"}}")).await;
        db.claim("f").await;
        let token = announce(&run, &db, "a", 1).await;
        if name == "delivered" {
            db.run("select pgflow.signal('early', '1', 'r')").await;
        }
        let token = if name == "delivered" { "early" } else { &*token };
        wait_for(&run, &db, "a", 1, &wait.replace("TOKEN", token)).await;
        db.claim("c").await;
        let first = "select min(child) from pgflow.awaited where run_id =";
        match name {
            "told" | "untold" => db.run(&format!("select pgflow.complete_task(({first} '{}')::uuid, 'x', 0, '1')", run.id)).await,
            "failed" => db.run(&format!("select pgflow.fail_task(({first} '{}')::uuid, 'x', 0, 'boom')", run.id)).await,
            "left" => db.run(&format!("select pgflow.cancel_run('{}')", run.id)).await,
            "jobs" => db.run("select pgflow.complete_unheld_jobs(array['j1'], array['1'::jsonb])").await,
            _ => {}
        }
        if name != "untold" {
            db.run("select pgflow.wake_waits()").await;
        }
        if name == "delivered" {
            db.run(&format!("select pgflow.signal_task('{}', 'b', 0, '1', 'kept')", run.id)).await;
        }
    }
    db.run("select pgflow.signal('later', '1', 'r'); select pgflow.signal('later', '1')").await;
    db.check().await;
    db
}

pub(super) const BREAKS: &[Break] = &[
    ("wait_task", "delete from pgflow.waits where kind = 'sleep'"),
    ("wait_task", "update pgflow.waits set attempt = 2 where kind = 'sleep'"),
    ("wait_task", "update pgflow.step_tasks set status = 'started' where status = 'waiting'"),
    ("wait_mark", "update pgflow.runs set has_waits = null"),
    ("wait_times", "update pgflow.waits set until = until + interval '1 hour'"),
    ("wait_token", "update pgflow.hooks set run_id = gen_random_uuid()"),
    (
        "wait_children",
        "update pgflow.waits set open_children = open_children + 1 where kind = 'runs'",
    ),
    ("child_of_nobody", "update pgflow.awaited set abandoned = null"),
    ("child_mark", "update pgflow.runs set is_child = null"),
    ("child_mark", "update pgflow.jobs set is_child = null"),
    ("child_end", "delete from pgflow.wait_ends"),
    ("child_output", "update pgflow.awaited set output = '7' where output is not null"),
    ("hook_task", "update pgflow.hooks set task_index = 7"),
    ("hook_token", "update pgflow.hooks set token = 'hk_' || run_id"),
    ("signal_task", "update pgflow.signals set step_slug = 'x' where run_id is not null"),
    ("signal_delivered", "update pgflow.signals set task_index = 7 where payload is null"),
    (
        "signal_kept",
        "update pgflow.signals set token = 't' where token = 'later' and resume_id is null",
    ),
    ("signal_times", "update pgflow.signals set sent_at = now() + interval '9 days'"),
];

#[tokio::test]
async fn broken_waits_are_reported() {
    each_is_reported_on(&database().await, BREAKS).await;
}
