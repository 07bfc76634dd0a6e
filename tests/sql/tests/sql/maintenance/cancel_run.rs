//! `cancel_run`.

use serde_json::json;

use crate::harness::{Db, define, lit};

#[tokio::test]
async fn a_cancelled_run_says_when_and_why() {
    let db = Db::with(&define("f", &["a", "b after a"])).await;
    let run = db.start("f", "{}").await;
    let call = format!("pgflow.cancel_run(run_id => '{}', reason => 'no longer wanted')", run.id);
    let row = db.one(&format!("select to_jsonb(r) from {call} r")).await;
    assert_eq!(row, run.get("to_jsonb(runs)").await);
    let columns =
        "status, cancelled_at is not null, cancel_reason, completed_at, failed_at, output";
    assert_eq!(run.get(columns).await, "cancelled|t|no longer wanted|NULL|NULL|NULL");
    assert_eq!(run.events().await, ["run:started", "step:a:started", "run:cancelled"]);
    db.check().await;
}

#[tokio::test]
async fn its_event_has_the_reason() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.run(&format!("select pgflow.cancel_run('{}')", run.id)).await;
    let event = run.event("run:cancelled", None).await;
    let keys: Vec<_> = event.as_object().expect("object").keys().map(String::as_str).collect();
    assert_eq!(keys, ["cancelled_at", "event_type", "flow_slug", "reason", "run_id", "status"]);
    assert_eq!((&event["status"], &event["reason"]), (&json!("cancelled"), &json!(null)));
    db.check().await;
}

#[tokio::test]
async fn no_message_is_left_and_nothing_can_be_claimed() {
    let db = Db::with(&define("f", &["a", "m map"])).await;
    let run = db.start("f", "[1, 2]").await;
    let other = db.start("f", "[3]").await;
    db.claim_up_to("f", 2).await;
    db.run(&format!("select pgflow.cancel_run('{}', 'x')", run.id)).await;
    let live = format!("select count(*) from pgmq.q_f where message->>'run_id' = '{}'", run.id);
    let queued = format!("{live} and (message->>'step_slug', message->>'task_index') = ('m', '1')");
    assert_eq!(db.one(&queued).await, "0", "queued tasks' messages are archived");
    db.wake("f").await;
    let claimed: Vec<_> = db.claim("f").await.into_iter().map(|task| task.run).collect();
    assert_eq!(claimed, [other.id, other.id]);
    assert_eq!(db.one(&live).await, "0");
    db.check().await;
}

#[tokio::test]
async fn settling_a_task_of_a_cancelled_run_moves_nothing_on() {
    let db = Db::with(&define("f", &["a", "b", "c after a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    db.run(&format!("select pgflow.cancel_run('{}', 'x')", run.id)).await;
    run.complete("a", 0, "1").await;
    run.fail("b", 0, "boom").await;
    assert_eq!(run.status().await, "cancelled");
    assert_eq!(run.steps().await, ["a:started", "b:started", "c:created"]);
    assert_eq!(run.events().await.last().map(String::as_str), Some("run:cancelled"));
    assert_eq!(run.task("a", 0, "output").await, "NULL");
    assert_eq!(db.claim("f").await.len(), 0, "no retry on a cancelled run");
    db.check().await;
}

#[tokio::test]
async fn batches_say_that_the_run_has_ended() {
    let db = Db::with(&define("f", &["a", "b"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    db.run(&format!("select pgflow.cancel_run('{}', 'x')", run.id)).await;
    let ids = format!("array['{}']::uuid[]", run.id);
    let complete =
        format!("pgflow.complete_tasks({ids}, array['a'], array[0], array['1'::jsonb], array[1])");
    assert_eq!(db.rows(&format!("select outcome from {complete}")).await, ["run_ended"]);
    let fail = format!("pgflow.fail_tasks({ids}, array['b'], array[0], array['x'], array[1])");
    assert_eq!(db.rows(&format!("select outcome from {fail}")).await, ["run_ended"]);
    db.check().await;
}

#[tokio::test]
async fn a_second_cancel_changes_nothing() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.run(&format!("select pgflow.cancel_run('{}', 'first')", run.id)).await;
    let before = (run.get("to_jsonb(runs)").await, run.events().await);
    let again =
        format!("select status, cancel_reason from pgflow.cancel_run('{}', 'second')", run.id);
    assert_eq!(db.one(&again).await, "cancelled|first");
    assert_eq!((run.get("to_jsonb(runs)").await, run.events().await), before);
    db.check().await;
}

#[tokio::test]
async fn ended_runs_stay_as_they_are() {
    let db = Db::with(&define("f", &["a; max_attempts => 1"])).await;
    let (done, failed) = (db.start("f", "{}").await, db.start("f", "{}").await);
    db.claim("f").await;
    done.complete("a", 0, "1").await;
    failed.fail("a", 0, "boom").await;
    for run in [done, failed] {
        let before = (run.get("to_jsonb(runs)").await, run.events().await);
        let row = db
            .one(&format!("select to_jsonb(r) from pgflow.cancel_run('{}', 'x') r", run.id))
            .await;
        assert_eq!(row, before.0);
        assert_eq!((run.get("to_jsonb(runs)").await, run.events().await), before);
    }
    db.check().await;
}

#[tokio::test]
async fn an_unknown_run_gives_no_row() {
    let db = Db::new().await;
    let call = "select * from pgflow.cancel_run('00000000-0000-0000-0000-000000000001', 'x')";
    assert_eq!(db.rows(call).await, [""; 0]);
}

#[tokio::test]
async fn a_reason_is_kept_word_for_word() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    let odd = "'; drop table pgflow.runs; -- \" \\ 🦀";
    db.run(&format!("select pgflow.cancel_run('{}', {})", run.id, lit(odd))).await;
    assert_eq!(run.get("cancel_reason").await, odd);
    assert_eq!(run.event("run:cancelled", None).await["reason"], odd);
    db.check().await;
}

#[tokio::test]
async fn a_reason_is_cut_where_an_error_is() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.run(&format!("select pgflow.cancel_run('{}', repeat('é', 70000))", run.id)).await;
    assert_eq!(run.get("status, length(cancel_reason)").await, "cancelled|65536");
    let event = run.event("run:cancelled", None).await;
    assert_eq!(event["reason"].as_str().expect("text").chars().count(), 65_536);
    db.check().await;
}
