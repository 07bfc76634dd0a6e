//! `sweep_and_claim`: an idle worker's round trip.

use crate::harness::{Db, Run, define};

const WORKER: &str = "00000000-0000-4000-8000-00000000000a";

async fn with_worker() -> Db {
    let db = Db::with(&define("f", &["a", "b"])).await;
    let new =
        "insert into pgflow.workers (worker_id, queue_name, function_name, last_heartbeat_at)";
    db.run(&format!("{new} values ('{WORKER}', 'f', 'w', '2000-01-01')")).await;
    db
}

async fn sweep_and_claim(db: &Db, rest: &str) -> Vec<String> {
    let columns = "requeued, flow_slug, step_slug, task_index, attempt, input, timeout";
    let call = format!("pgflow.sweep_and_claim(30, array['f'], {rest})");
    let mut rows = db.rows(&format!("select {columns} from {call}")).await;
    rows[1..].sort();
    rows
}

async fn lost(db: &Db) -> Run<'_> {
    let run = db.start("f", "1").await;
    db.claim("f").await;
    run.stall("a", 0).await;
    run
}

#[tokio::test]
async fn what_was_lost_can_be_claimed_at_once() {
    let db = with_worker().await;
    let run = lost(&db).await;
    let rows = sweep_and_claim(&db, &format!("10, '{WORKER}'")).await;
    assert_eq!(rows, ["1|NULL|NULL|NULL|NULL|NULL|NULL", r#"NULL|f|a|0|2|{"run": 1}|60"#]);
    let columns = "status, requeued_count, last_worker_id";
    assert_eq!(run.task("a", 0, columns).await, format!("started|1|{WORKER}"));
    assert_eq!(run.task("b", 0, "status, requeued_count").await, "started|0");
    db.check().await;
}

#[tokio::test]
async fn it_claims_as_claim_tasks_does() {
    let db = with_worker().await;
    db.start("f", "1").await;
    let rows = sweep_and_claim(&db, &format!("10, '{WORKER}', '{{f}}', '{{a}}', '{{0}}'")).await;
    assert_eq!(rows, ["0|NULL|NULL|NULL|NULL|NULL|NULL", r#"NULL|f|b|0|1|{"run": 1}|60"#]);
    assert_eq!(
        sweep_and_claim(&db, &format!("10, '{WORKER}', '{{f}}', '{{a}}', '{{0}}'")).await.len(),
        1
    );
    let unknown = "select pgflow.sweep_and_claim(2, '{f}', 1, gen_random_uuid())";
    assert_eq!(
        db.error(unknown).await.constraint.as_deref(),
        Some("step_tasks_last_worker_id_fkey")
    );
    db.check().await;
}

#[tokio::test]
async fn the_worker_is_seen_alive_and_needs_no_room() {
    let db = with_worker().await;
    lost(&db).await;
    assert_eq!(
        sweep_and_claim(&db, &format!("0, '{WORKER}'")).await[0],
        "1|NULL|NULL|NULL|NULL|NULL|NULL"
    );
    let is_new = "select last_heartbeat_at > now() - interval '1 minute' from pgflow.workers";
    assert_eq!(db.one(is_new).await, "t");
    db.check().await;
}
