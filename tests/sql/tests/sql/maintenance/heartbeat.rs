//! `heartbeat`.

use uuid::Uuid;

use crate::harness::{Db, define};

/// `(run, step, index, attempt)`.
type Item<'a> = (Uuid, &'a str, u32, u32);

fn beat(items: &[Item<'_>]) -> String {
    let list =
        |cell: fn(&Item<'_>) -> String| items.iter().map(cell).collect::<Vec<_>>().join(", ");
    format!(
        "select step_slug, task_index, outcome from pgflow.heartbeat(
            run_ids => array[{}]::uuid[], step_slugs => array[{}]::text[],
            task_indexes => array[{}]::int[], attempts => array[{}]::int[])",
        list(|item| format!("'{}'", item.0)),
        list(|item| format!("'{}'", item.1)),
        list(|item| item.2.to_string()),
        list(|item| item.3.to_string()),
    )
}

#[tokio::test]
async fn message_and_lease_are_extended() {
    let db = Db::with(&define("f", &["a; timeout => 50"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    db.wake("f").await;
    assert_eq!(db.hides("f", &beat(&[(run.id, "a", 0, 1)])).await, ["a:52"]);
    assert_eq!(db.rows(&beat(&[(run.id, "a", 0, 1)])).await, ["a|0|extended"]);
    let apart = "extract(epoch from lease_until - (select vt from pgmq.q_f)) between -1 and 1";
    assert_eq!(
        run.task("a", 0, apart).await,
        "t",
        "the lease lasts as long as the message is hidden"
    );
    assert_eq!(db.claim("f").await.len(), 0);
    assert_eq!(run.task("a", 0, "status, attempts_count").await, "started|1");
    db.check().await;
}

#[tokio::test]
async fn whoever_asks_learns_whether_an_attempt_still_counts() {
    let db = Db::with(&define("f", &["a", "b"])).await;
    let run = db.start("f", "{}").await;
    let holds = |step: &str, attempt: u32| {
        format!("select pgflow.holds_task('{}', '{step}', 0, {attempt})", run.id)
    };
    assert_eq!(db.one(&holds("a", 0)).await, "f", "queued");
    db.claim("f").await;
    assert_eq!(db.one(&holds("a", 1)).await, "t");
    assert_eq!(db.one(&holds("a", 2)).await, "f", "another attempt");
    run.complete("a", 0, "1").await;
    assert_eq!(db.one(&holds("a", 1)).await, "f", "settled");
    db.run(&format!("select pgflow.cancel_run('{}')", run.id)).await;
    assert_eq!(db.one(&holds("b", 1)).await, "f", "the run has ended");
}

#[tokio::test]
async fn a_task_with_a_live_lease_is_not_stalled() {
    let db = Db::with(&define("f", &["a", "b"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    run.stall("a", 0).await;
    run.stall("b", 0).await;
    db.run(&beat(&[(run.id, "a", 0, 1)])).await;
    assert_eq!(db.one("select pgflow.requeue_stalled_tasks()").await, "1");
    assert_eq!(run.tasks().await, ["a#0:started:1", "b#0:queued:1"]);
    db.check().await;
}

#[tokio::test]
async fn superseded_and_settled_tasks_are_lost() {
    let db = Db::with(&define("f", &["m map", "z"])).await;
    let run = db.start("f", "[1, 2, 3]").await;
    db.claim("f").await;
    run.complete("m", 0, "1").await;
    run.fail("m", 1, "boom").await;
    run.fail("m", 2, "boom").await;
    db.claim_up_to("f", 1).await;
    let items = [
        (run.id, "m", 0, 1),
        (run.id, "m", 1, 1),
        (run.id, "m", 2, 1),
        (run.id, "z", 0, 2),
        (run.id, "nope", 0, 1),
        (Uuid::from_u128(4), "m", 0, 1),
    ];
    let expected = ["m|0|lost", "m|1|lost", "m|2|lost", "z|0|lost", "nope|0|lost", "m|0|lost"];
    assert_eq!(db.rows(&beat(&items)).await, expected);
    assert_eq!(run.task("m", 2, "status, lease_until").await, "queued|NULL");
    db.check().await;
}

#[tokio::test]
async fn tasks_of_ended_runs_are_cancelled() {
    let db = Db::with(&define("f", &["a", "b; max_attempts => 1"])).await;
    let (cancelled, failed, alive) =
        (db.start("f", "{}").await, db.start("f", "{}").await, db.start("f", "{}").await);
    db.claim("f").await;
    db.run(&format!("select pgflow.cancel_run('{}', 'x')", cancelled.id)).await;
    failed.fail("b", 0, "boom").await;
    let items = [(alive.id, "a", 0, 1), (failed.id, "a", 0, 1), (cancelled.id, "a", 0, 1)];
    assert_eq!(db.rows(&beat(&items)).await, ["a|0|extended", "a|0|cancelled", "a|0|cancelled"]);
    db.check().await;
}

#[tokio::test]
async fn an_older_attempt_does_not_hold_the_newer_ones_task() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    run.fail("a", 0, "boom").await;
    db.claim("f").await;
    let before = db.one("select vt from pgmq.q_f").await;
    assert_eq!(db.rows(&beat(&[(run.id, "a", 0, 1)])).await, ["a|0|lost"]);
    assert_eq!(db.one("select vt from pgmq.q_f").await, before);
    db.check().await;
}

#[tokio::test]
async fn the_worker_is_seen() {
    let db = Db::with(&define("f", &["a"])).await;
    let worker = "00000000-0000-4000-8000-00000000000a";
    let insert = "insert into pgflow.workers (worker_id, queue_name, function_name, last_heartbeat_at) values";
    db.run(&format!("{insert} ('{worker}', 'f', 'fn', now() - interval '1 hour')")).await;
    let run = db.start("f", "{}").await;
    db.run(&format!("select pgflow.claim_tasks(array['f'], 1, '{worker}')")).await;
    let arrays = format!("array['{}']::uuid[], array['a'], array[0], array[1]", run.id);
    let call = format!("select outcome from pgflow.heartbeat({arrays}, worker_id => '{worker}')");
    assert_eq!(db.rows(&call).await, ["extended"]);
    let seen = "select last_heartbeat_at > now() - interval '1 minute' from pgflow.workers";
    assert_eq!(db.one(seen).await, "t");
    db.check().await;
}

#[tokio::test]
async fn empty_arrays_do_nothing_and_unequal_ones_are_refused() {
    let db = Db::with(&define("f", &["a"])).await;
    assert_eq!(db.rows(&beat(&[])).await, [""; 0]);
    let id = "array['00000000-0000-0000-0000-000000000001']::uuid[]";
    db.error(&format!("select pgflow.heartbeat({id}, array['a', 'b'], array[0], array[1])")).await;
    db.check().await;
}

#[tokio::test]
async fn tasks_of_a_skipped_step_are_lost() {
    let skips = "m map; max_attempts => 1, when_exhausted => 'skip'";
    let db = Db::with(&define("f", &[skips, "z after m"])).await;
    let run = db.start("f", "[1, 2]").await;
    db.claim("f").await;
    run.fail("m", 0, "boom").await;
    assert_eq!(db.rows(&beat(&[(run.id, "m", 1, 1)])).await, ["m|1|lost"]);
    db.check().await;
}

/// A lease that has just run out may still be extended by a heartbeat on its way.
#[tokio::test]
async fn a_lease_has_its_grace_too() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    run.stall("a", 0).await;
    for (age, requeued) in [(10, "0"), (60, "1")] {
        let lease = format!("clock_timestamp() - interval '{age} seconds'");
        db.run(&format!("update pgflow.step_tasks set lease_until = {lease}")).await;
        assert_eq!(db.one("select pgflow.requeue_stalled_tasks(30)").await, requeued, "{age} s");
    }
    db.check().await;
}
