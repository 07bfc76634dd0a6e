//! Workers write themselves into a table.

use crate::harness::Db;

const ID: &str = "00000000-0000-4000-8000-00000000000a";

#[tokio::test]
async fn a_worker_comes_beats_and_goes() {
    let db = Db::new().await;
    let insert = format!(
        "INSERT INTO pgflow.workers (queue_name, worker_id, function_name) VALUES ('f', '{ID}', 'fn') RETURNING *"
    );
    assert_eq!(db.rows(&insert).await.len(), 1);
    db.run("update pgflow.workers set last_heartbeat_at = now() - interval '1 hour'").await;
    let beat = format!(
        "UPDATE pgflow.workers SET last_heartbeat_at = clock_timestamp() WHERE worker_id = '{ID}'
         RETURNING deprecated_at IS NOT NULL AS is_deprecated"
    );
    assert_eq!(db.one(&beat).await, "f");
    db.run("update pgflow.workers set deprecated_at = now()").await;
    assert_eq!(db.one(&beat).await, "t");
    db.run(&format!("select pgflow.mark_worker_stopped(worker_id => '{ID}')")).await;
    let stopped = "select stopped_at between now() - interval '1 minute' and clock_timestamp() from pgflow.workers";
    assert_eq!(db.one(stopped).await, "t");
}

#[tokio::test]
async fn stopping_a_stranger_is_no_error() {
    let db = Db::new().await;
    db.run(&format!("select pgflow.mark_worker_stopped('{ID}')")).await;
    assert_eq!(db.one("select count(*) from pgflow.workers").await, "0");
}

#[tokio::test]
async fn a_worker_has_to_bring_its_id() {
    let db = Db::new().await;
    let failure =
        db.error("insert into pgflow.workers (queue_name, function_name) values ('f', 'fn')").await;
    assert_eq!(failure.code, "23502");
}

#[tokio::test]
async fn functions_are_tracked_once() {
    let db = Db::new().await;
    db.run("select pgflow.track_worker_function('fn')").await;
    let row = "select function_name, enabled, debounce, last_invoked_at <= clock_timestamp(), updated_at >= created_at
        from pgflow.worker_functions";
    assert_eq!(db.one(row).await, "fn|t|00:00:06|t|t");
    db.run("update pgflow.worker_functions set debounce = '9 seconds'").await;
    db.run("select pgflow.track_worker_function('fn')").await;
    assert_eq!(db.one("select debounce from pgflow.worker_functions").await, "00:00:09");
    let failure = db.error("update pgflow.worker_functions set debounce = '500 ms'").await;
    assert_eq!(failure.code, "23514");
}
