//! Complete, fail, cancel, requeue and heartbeat of one task at the same instant.

use super::race::{assert_no_deadlocks, race, rows};
use crate::harness::{Db, define};

const ROUNDS: usize = 100;

/// Runs whose first step was taken by a worker that has been silent for a day.
pub(super) async fn stalled(rounds: usize) -> (Db, Vec<String>) {
    let db = Db::with(&define("f", &["a; max_attempts => 2", "b after a", "m map after a"])).await;
    let start =
        format!("select (pgflow.start_flow('f', '1')).run_id from generate_series(1, {rounds})");
    let runs = db.rows(&start).await;
    db.claim("f").await;
    db.run(
        "update pgflow.step_tasks set queued_at = queued_at - interval '2 days',
            started_at = started_at - interval '1 day'",
    )
    .await;
    (db, runs)
}

/// What can happen to the running task of a run.
pub(super) const ACTIONS: [&str; 5] = ["complete", "fail", "cancel", "requeue", "heartbeat"];

pub(super) fn action(name: &str, run: &str) -> String {
    match name {
        "complete" => {
            format!("select status from pgflow.complete_task('{run}', 'a', 0, '[1, 2]', 1)")
        }
        "fail" => format!("select status from pgflow.fail_task('{run}', 'a', 0, 'boom', 1)"),
        "cancel" => format!("select status from pgflow.cancel_run('{run}', 'no')"),
        "requeue" => "select pgflow.requeue_stalled_tasks()".to_owned(),
        "heartbeat" => {
            let arrays = format!("array['{run}']::uuid[], array['a'], array[0], array[1]");
            format!("select outcome from pgflow.heartbeat({arrays})")
        }
        other => panic!("no action {other}"),
    }
}

/// Whatever happened, each run can be brought to its end.
pub(super) async fn drain(db: &Db) {
    for _ in 0..20 {
        db.wake("f").await;
        db.claim("f").await;
        db.run("select pgflow.complete_tasks(array_agg(run_id), array_agg(step_slug), array_agg(task_index),
                    array_agg('[1]'::jsonb))
                from pgflow.step_tasks where status = 'started' having count(*) > 0")
            .await;
        if db.one("select count(*) from pgflow.runs where status = 'started'").await == "0" {
            assert_eq!(db.queue("f").await, [""; 0]);
            return db.check().await;
        }
    }
    panic!(
        "runs hang: {:?}",
        db.rows("select t from pgflow.step_tasks t where status <> 'completed'").await
    );
}

#[tokio::test]
async fn one_of_them_wins() {
    let (db, runs) = stalled(ROUNDS).await;
    let script = |name: &&str| runs.iter().map(|run| action(name, run)).collect();
    rows(&race(&db, ACTIONS.iter().map(script).collect()).await);
    db.check().await;
    let ends = "select count(*) from (select run_id from pgflow.events
        where event_type in ('run:completed', 'run:failed', 'run:cancelled') group by 1 having count(*) > 1) t";
    assert_eq!(db.one(ends).await, "0");
    let live = "select count(*) from pgflow.runs where status <> 'cancelled'";
    assert_eq!(db.one(live).await, "0", "a run that had not ended was cancelled");
    assert_no_deadlocks(&db).await;
    drain(&db).await;
}

#[tokio::test]
async fn without_the_cancel_every_run_still_ends() {
    let (db, runs) = stalled(ROUNDS).await;
    let script = |name: &&str| runs.iter().map(|run| action(name, run)).collect();
    let names = ["complete", "fail", "requeue", "complete", "fail"];
    rows(&race(&db, names.iter().map(script).collect()).await);
    db.check().await;
    let wrong =
        "select count(*) from pgflow.step_tasks where step_slug = 'a' and (status = 'started'
        or status = 'completed' and output is distinct from '[1, 2]')";
    assert_eq!(db.one(wrong).await, "0");
    assert_no_deadlocks(&db).await;
    drain(&db).await;
    assert_eq!(db.one("select count(*) from pgflow.runs where status <> 'completed'").await, "0");
}
