//! Databases with many flows: a transaction that looks at all queues keeps no lock on each.

use std::fmt::Write;

use crate::harness::{Db, define};

/// More than a claim or a sweep touches at once.
const FLOWS: usize = 40;

/// So many queues may be locked in one transaction; each with three indexes.
const MOST: u32 = 32 * 4;

async fn with_flows(runs: bool) -> Db {
    let mut script = String::new();
    for n in 0..FLOWS {
        script += &define(&format!("f{n}"), &["a; timeout => 1"]);
        if runs {
            write!(script, "select 1 from pgflow.start_flow('f{n}', '1');")
                .expect("a text takes it");
        }
    }
    Db::with(&script).await
}

fn names() -> String {
    let names: Vec<_> = (0..FLOWS).map(|n| format!("'f{n}'")).collect();
    format!("array[{}]", names.join(", "))
}

/// How many locks on queues a statement leaves its transaction with.
async fn locks(db: &Db, statement: &str) -> u32 {
    let mut session = db.session().await;
    session.run("begin").await;
    session.run(statement).await;
    let held = "select count(distinct l.relation) from pg_locks l join pg_class c on c.oid = l.relation
        where l.pid = pg_backend_pid() and c.relnamespace = 'pgmq'::regnamespace and c.relname ~ '^[qa]_f'";
    let held = session.one(held).await.parse().expect("a number");
    session.run("commit").await;
    held
}

#[tokio::test]
async fn idle_queues_cost_no_locks() {
    let db = with_flows(false).await;
    let names = names();
    for statement in [
        "select pgflow.requeue_stalled_tasks(0)".to_owned(),
        format!("select pgflow.claim_tasks({names}, 100)"),
        format!("select * from pgflow.sweep_and_claim(0, {names}, 100)"),
        format!("select pgflow.resume_tasks({names})"),
        format!(
            "select pgflow.release_unknown_tasks(gen_random_uuid(), {names}, '{{}}', '{{}}', '{{}}', '{{}}')"
        ),
        "select pgflow.prune_runs(interval '1 day')".to_owned(),
        "select pgflow.get_queue_depths()".to_owned(),
        format!("select pgflow.get_flow_versions({names})"),
        "select pgflow.list_workers()".to_owned(),
        "select pgflow.check()".to_owned(),
    ] {
        assert_eq!(locks(&db, &statement).await, 0, "{statement}");
    }
}

#[tokio::test]
async fn what_all_have_is_taken_in_portions() {
    let db = with_flows(true).await;
    let names = names();
    let claim = format!("select pgflow.claim_tasks({names}, 100)");
    let held = locks(&db, &claim).await;
    assert!((1..=MOST).contains(&held), "{held}");
    let started = "select count(*) from pgflow.step_tasks where status = 'started'";
    assert_eq!(db.one(started).await, "32");
    db.run(&claim).await;
    assert_eq!(db.one(started).await, "40");
    db.run("update pgflow.step_tasks set queued_at = queued_at - interval '1 day', started_at = started_at - interval '1 hour'")
        .await;
    let held = locks(&db, "select pgflow.requeue_stalled_tasks(0)").await;
    assert!((1..=MOST).contains(&held), "{held}");
    assert_eq!(db.one(started).await, "8");
    assert_eq!(db.one("select pgflow.requeue_stalled_tasks(0)").await, "8");
    db.check().await;
}
