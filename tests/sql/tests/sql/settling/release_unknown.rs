//! `release_unknown_tasks`: what a worker holds and does not know of, because the answer to its claim got lost.

use crate::harness::{Db, Run, define};

const WORKER: &str = "00000000-0000-4000-8000-00000000000a";
const OTHER: &str = "00000000-0000-4000-8000-00000000000b";

/// Two workers and these flows, each with a map.
async fn with_workers(flows: &[&str]) -> Db {
    let sql: String = flows.iter().map(|flow| define(flow, &["m map"]) + ";").collect();
    let db = Db::with(&sql).await;
    let new = "insert into pgflow.workers (worker_id, queue_name, function_name)";
    db.run(&format!("{new} values ('{WORKER}', 'f', 'w'), ('{OTHER}', 'f', 'w')")).await;
    db
}

async fn claim(db: &Db, flow: &str, qty: u32, worker: &str) {
    db.run(&format!("select pgflow.claim_tasks(array['{flow}'], {qty}, '{worker}')")).await;
}

/// Knowing tasks of a map by index and attempt.
async fn release(
    db: &Db,
    flows: &str,
    worker: &str,
    run: &Run<'_>,
    known: &[(u32, u32)],
) -> String {
    let list = |part: fn(&(u32, u32)) -> u32| {
        known.iter().map(|key| part(key).to_string()).collect::<Vec<_>>().join(", ")
    };
    let (indexes, attempts) = (list(|key| key.0), list(|key| key.1));
    let (runs, steps) = (vec![format!("'{}'", run.id); known.len()], vec!["'m'"; known.len()]);
    db.one(&format!(
        "select pgflow.release_unknown_tasks('{worker}', '{flows}', array[{}]::uuid[], array[{}]::text[],
            array[{indexes}]::int[], array[{attempts}]::int[])",
        runs.join(", "),
        steps.join(", "),
    ))
    .await
}

#[tokio::test]
async fn what_is_not_known_comes_back_unused() {
    let db = with_workers(&["f"]).await;
    let run = db.start("f", "[1, 2, 3]").await;
    claim(&db, "f", 3, WORKER).await;
    assert_eq!(release(&db, "{f}", WORKER, &run, &[(1, 1)]).await, "2");
    assert_eq!(run.tasks().await, ["m#0:queued:1", "m#1:started:1", "m#2:queued:1"]);
    let columns = "started_at, lease_until, attempts_count, refunded_count, requeued_count";
    assert_eq!(run.task("m", 0, columns).await, "NULL|NULL|1|1|0");
    assert_eq!(run.task("m", 1, "refunded_count").await, "0");
    assert_eq!(release(&db, "{f}", WORKER, &run, &[(1, 1)]).await, "0");
    db.check().await;
    let again = db.claim("f").await;
    assert_eq!(again.iter().map(|task| task.attempt).collect::<Vec<_>>(), [2, 2], "at once");
    db.check().await;
}

#[tokio::test]
async fn a_task_is_known_with_its_attempt() {
    let db = with_workers(&["f"]).await;
    let run = db.start("f", "[1]").await;
    claim(&db, "f", 1, WORKER).await;
    assert_eq!(release(&db, "{f}", WORKER, &run, &[]).await, "1");
    claim(&db, "f", 1, WORKER).await;
    assert_eq!(release(&db, "{f}", WORKER, &run, &[(0, 2)]).await, "0");
    assert_eq!(release(&db, "{f}", WORKER, &run, &[(0, 1)]).await, "1");
    assert_eq!(run.tasks().await, ["m#0:queued:2"]);
    db.check().await;
}

#[tokio::test]
async fn tasks_of_others_stay_as_they_are() {
    let db = with_workers(&["f", "g"]).await;
    let (run, gone, far) =
        (db.start("f", "[1, 2]").await, db.start("f", "[1]").await, db.start("g", "[1]").await);
    claim(&db, "f", 9, OTHER).await;
    claim(&db, "g", 9, WORKER).await;
    assert_eq!(release(&db, "{f, no_such_queue}", WORKER, &run, &[]).await, "0");
    db.run(&format!("select pgflow.cancel_run('{}')", gone.id)).await;
    assert_eq!(release(&db, "{f, f}", OTHER, &run, &[]).await, "2");
    assert_eq!(gone.task("m", 0, "status, refunded_count").await, "started|0");
    assert_eq!(far.tasks().await, ["m#0:started:1"]);
    db.check().await;
}

/// A worker that the database does not know holds nothing, and neither does nobody.
#[tokio::test]
async fn nobody_holds_nothing() {
    let db = with_workers(&["f"]).await;
    let run = db.start("f", "[1]").await;
    db.claim("f").await;
    assert_eq!(run.task("m", 0, "last_worker_id").await, "NULL");
    let call = "select pgflow.release_unknown_tasks(null, '{f}', '{}', '{}', '{}', '{}')";
    assert_eq!(db.one(call).await, "0");
    assert_eq!(run.tasks().await, ["m#0:started:1"]);
    let odd = "select pgflow.release_unknown_tasks(null, '{f}', '{}', '{a}', '{}', '{}')";
    assert_eq!(db.error(odd).await.code, "2202E");
}
