//! `retry_run`: the run, its tasks and its events.

use crate::harness::{Db, Run, define};

async fn retry(db: &Db, run: &Run<'_>) -> String {
    db.one(&format!("select status, failed_at from pgflow.retry_run('{}')", run.id)).await
}

#[tokio::test]
async fn a_failed_run_goes_on_where_it_failed() {
    let db = Db::with(&define("f", &["a", "b after a; max_attempts => 2", "c after b"])).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "1").await;
    run.exhaust("b", "boom").await;
    assert_eq!(retry(&db, &run).await, "started|NULL");
    assert_eq!(run.steps().await, ["a:completed", "b:started", "c:created"]);
    assert_eq!(run.step("b", "failed_at, error_message, remaining_tasks").await, "NULL|NULL|1");
    db.check().await;
    let task = db.claim("f").await.remove(0);
    assert_eq!((task.name().as_str(), task.attempt), ("b#0", 3), "numbers of attempts go on");
    assert_eq!(run.fail("b", 0, "again").await, ["queued"], "with a fresh budget");
    run.finish("b", "2").await;
    run.finish("c", "3").await;
    assert_eq!(run.get("status, output").await, r#"completed|{"c": 3}"#);
    db.check().await;
}

#[tokio::test]
async fn a_fresh_budget_ends_too_and_can_be_had_again() {
    let db = Db::with(&define("f", &["a; max_attempts => 2"])).await;
    let run = db.start("f", "{}").await;
    for round in 1..=3 {
        run.exhaust("a", "boom").await;
        let counts = run.task("a", 0, "attempts_count, refunded_count").await;
        assert_eq!(counts, format!("{}|{}", round * 2, (round - 1) * 2));
        db.check().await;
        retry(&db, &run).await;
        db.check().await;
    }
}

#[tokio::test]
async fn tasks_that_the_failure_cut_off_are_queued_again() {
    let steps = ["a; max_attempts => 1", "m map; max_attempts => 1", "q; start_delay => 900"];
    let db = Db::with(&define("f", &steps)).await;
    let run = db.start("f", "[1, 2, 3, 4]").await;
    db.claim("f").await;
    run.complete("m", 0, "10").await;
    run.fail("a", 0, "boom").await;
    run.fail("m", 1, "late").await;
    assert_eq!(db.queue("f").await, [""; 0]);
    retry(&db, &run).await;
    let tasks = [
        "a#0:queued:1",
        "m#0:completed:1",
        "m#1:queued:1",
        "m#2:queued:1",
        "m#3:queued:1",
        "q#0:queued:0",
    ];
    assert_eq!(run.tasks().await, tasks);
    assert_eq!(db.queue("f").await, ["a#0", "m#1", "m#2", "m#3", "q#0"]);
    db.check().await;
    let claimed: Vec<_> =
        db.claim("f").await.iter().map(|task| (task.name(), task.input.clone())).collect();
    assert_eq!(claimed.len(), 5);
    assert_eq!(claimed[3], ("m#3".to_owned(), serde_json::json!(4)), "elements are still there");
    // With one attempt each: what was cut off or has failed has it again.
    for index in 1..4 {
        run.complete("m", index, "20").await;
    }
    run.complete("a", 0, "1").await;
    run.complete("q", 0, "2").await;
    assert_eq!(
        run.get("status, output").await,
        r#"completed|{"a": 1, "m": [10, 20, 20, 20], "q": 2}"#
    );
    db.check().await;
}

#[tokio::test]
async fn an_attempt_that_was_cut_off_does_not_count_and_one_that_failed_before_does() {
    let db = Db::with(&define(
        "f",
        &["a; max_attempts => 1", "b; max_attempts => 2", "c; max_attempts => 2"],
    ))
    .await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    run.fail("c", 0, "once").await;
    run.fail("a", 0, "boom").await;
    retry(&db, &run).await;
    let refunded = |step: &'static str| run.task(step, 0, "attempts_count, refunded_count");
    assert_eq!(refunded("a").await, "1|1");
    assert_eq!(refunded("b").await, "1|1");
    assert_eq!(refunded("c").await, "1|0");
    db.check().await;
}

#[tokio::test]
async fn results_from_before_are_fenced() {
    let db = Db::with(&define("f", &["a; max_attempts => 1", "b"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    run.fail("a", 0, "boom").await;
    retry(&db, &run).await;
    let key = format!("array['{}']::uuid[], array['b'], array[0]", run.id);
    let complete =
        format!("select outcome from pgflow.complete_tasks({key}, array['1'::jsonb], array[1])");
    let beat = format!("select outcome from pgflow.heartbeat({key}, array[1])");
    let release = format!("select outcome from pgflow.release_tasks({key}, array[1])");
    for _ in 0..2 {
        assert_eq!(db.one(&complete).await, "fenced");
        assert_eq!(db.one(&beat).await, "lost");
        assert_eq!(db.one(&release).await, "fenced");
        db.check().await;
        db.claim("f").await;
    }
    assert_eq!(run.task("b", 0, "status, attempts_count").await, "started|2");
}

#[tokio::test]
async fn events_say_what_was_opened_again_and_old_ones_stay_as_they_were() {
    let db = Db::with(&define("f", &["m map; max_attempts => 1", "b"])).await;
    let run = db.start("f", "[1, 2]").await;
    db.claim("f").await;
    run.complete("m", 0, "1").await;
    run.fail("m", 1, "boom").await;
    let before = db.rows(&format!("select payload from pgflow.read_events('{}')", run.id)).await;
    retry(&db, &run).await;
    let after = db.rows(&format!("select payload from pgflow.read_events('{}')", run.id)).await;
    assert_eq!(after[..before.len()], before[..]);
    let events = run.events().await;
    assert_eq!(events[3..], ["step:m:failed", "run:failed", "run:retried", "step:m:started"]);
    let retried = run.event("run:retried", None).await;
    let keys: Vec<_> = retried.as_object().expect("object").keys().map(String::as_str).collect();
    assert_eq!(keys, ["event_type", "flow_slug", "retried_at", "run_id", "status"]);
    assert_eq!(retried["status"], "started");
    let last: serde_json::Value =
        serde_json::from_str(after.last().expect("an event")).expect("JSON");
    assert_eq!((&last["remaining_tasks"], &last["step_slug"]), (&1.into(), &"m".into()));
    db.check().await;
}

#[tokio::test]
async fn only_a_failed_run_can_be_retried() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    let call = |id| format!("select pgflow.retry_run('{id}')");
    let refused = |status: &str| {
        format!("55000 Run {} is {status}: only a failed run can be retried", run.id)
    };
    assert_eq!(db.error(&call(run.id)).await.to_string(), refused("started"));
    run.finish("a", "1").await;
    assert_eq!(db.error(&call(run.id)).await.to_string(), refused("completed"));
    let other = db.start("f", "{}").await;
    db.run(&format!("select pgflow.cancel_run('{}')", other.id)).await;
    assert!(db.error(&call(other.id)).await.message.contains("is cancelled"));
    let unknown = db.error(&call(uuid::Uuid::from_u128(1))).await;
    assert_eq!(unknown.to_string(), "P0002 Run not found: 00000000-0000-0000-0000-000000000001");
    db.check().await;
}
