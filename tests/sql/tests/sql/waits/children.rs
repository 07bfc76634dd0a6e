//! Waiting for runs.

use super::{later, started, wait};
use crate::harness::{Db, Run, define};

const WAKE: &str = "select woken, timed_out from pgflow.wake_waits()";
const CANCEL: &str = "select children from pgflow.cancel_abandoned()";

/// A run of `f` whose step `a` waits for two runs of `c`; ends with the ids of those.
async fn parent<'a>(db: &'a Db, more: &str) -> (Run<'a>, Vec<String>) {
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let before = started(db, "c").await;
    assert_eq!(wait(&run, db, "a", 1, &two(more)).await, "applied");
    let mut children = started(db, "c").await;
    children.retain(|child| !before.contains(child));
    assert_eq!(children.len(), 2);
    db.claim("c").await;
    db.check().await;
    (run, children)
}

fn two(more: &str) -> String {
    format!(
        r#"{{"on": "runs", "each": true, {more} "children": [{{"flow": "c", "input": 1}}, {{"flow": "c", "input": 2}}]}}"#
    )
}

async fn flows() -> Db {
    let flows = define("f", &["a; max_attempts => 2", "b after a"])
        + &define("c", &["x; max_attempts => 1"]);
    Db::with(&flows).await
}

async fn complete(db: &Db, child: &str, output: &str) {
    db.run(&format!("select pgflow.complete_task('{child}', 'x', 0, '{output}')")).await;
    db.check().await;
}

async fn fail(db: &Db, child: &str) {
    db.run(&format!("select pgflow.fail_task('{child}', 'x', 0, 'boom')")).await;
    db.check().await;
}

#[tokio::test]
async fn the_output_is_that_of_all_children_in_their_order() {
    let db = flows().await;
    let (run, children) = parent(&db, "").await;
    complete(&db, &children[1], "20").await;
    assert_eq!(db.one(WAKE).await, "0|0", "the other goes on");
    assert_eq!(run.tasks().await, ["a#0:waiting:1"]);
    complete(&db, &children[0], "10").await;
    assert_eq!(run.tasks().await, ["a#0:waiting:1"], "who ends a child does not touch the parent");
    assert_eq!(db.one("select pgflow.needs_waking()").await, "t");
    assert_eq!(db.one(WAKE).await, "1|0");
    assert_eq!(run.step("a", "output").await, r#"[{"x": 10}, {"x": 20}]"#);
    assert_eq!(run.steps().await, ["a:completed", "b:started"]);
    assert_eq!(db.one("select count(*) from pgflow.awaited").await, "0");
    assert_eq!(db.one("select pgflow.needs_waking()").await, "f");
    db.check().await;
}

#[tokio::test]
async fn a_child_that_fails_fails_the_attempt_and_the_others_are_cancelled() {
    let db = flows().await;
    let (run, children) = parent(&db, "").await;
    fail(&db, &children[1]).await;
    assert_eq!(db.one(WAKE).await, "1|0");
    let error = format!("child run {} failed: boom", children[1]);
    assert_eq!(run.task("a", 0, "error_message").await, error);
    assert_eq!(run.tasks().await, ["a#0:queued:1"]);
    db.check().await;
    assert_eq!(db.one(CANCEL).await, "1");
    assert_eq!(db.one(CANCEL).await, "0");
    let reason = format!("select cancel_reason from pgflow.runs where run_id = '{}'", children[0]);
    assert_eq!(db.one(&reason).await, format!("parent run {} no longer waits for it", run.id));
    db.wake("f").await;
    db.claim("f").await;
    assert_eq!(wait(&run, &db, "a", 2, &two("")).await, "applied");
    let again = started(&db, "c").await;
    assert!(again.len() == 2 && !again.contains(&children[0]), "a retry starts new ones");
    db.check().await;
}

#[tokio::test]
async fn how_children_ended_can_be_the_output() {
    let db = flows().await;
    let (run, children) = parent(&db, r#""outcomes": true,"#).await;
    fail(&db, &children[0]).await;
    assert_eq!(db.one(WAKE).await, "0|0", "nothing is wrong yet");
    complete(&db, &children[1], "7").await;
    assert_eq!(db.one(WAKE).await, "1|0");
    assert_eq!(
        run.step("a", "output").await,
        r#"[{"error": {"status": "failed", "message": "boom"}}, {"ok": {"x": 7}}]"#
    );
    db.check().await;
}

#[tokio::test]
async fn cancelling_the_parent_cancels_its_children_unless_they_are_detached() {
    let db = flows().await;
    let (attached, children) = parent(&db, "").await;
    let (detached, others) = parent(&db, r#""detached": true,"#).await;
    for run in [&attached, &detached] {
        db.run(&format!("select pgflow.cancel_run('{}', 'enough')", run.id)).await;
        db.check().await;
    }
    assert_eq!(db.one(CANCEL).await, "2");
    assert_eq!(started(&db, "c").await, others);
    let reason = format!("select cancel_reason from pgflow.runs where run_id = '{}'", children[0]);
    assert_eq!(db.one(&reason).await, format!("parent run {} was cancelled", attached.id));
    complete(&db, &others[0], "1").await;
    assert_eq!(db.one("select pgflow.needs_waking()").await, "f", "nobody waits for them");
    db.check().await;
}

#[tokio::test]
async fn a_parent_that_fails_leaves_no_children_behind() {
    let db = Db::with(&(define("f", &["a", "z; max_attempts => 1"]) + &define("c", &["x"]))).await;
    let (run, children) = parent(&db, "").await;
    run.fail("z", 0, "oh").await;
    assert_eq!(run.status().await, "failed");
    db.check().await;
    assert_eq!(db.one(CANCEL).await, "2");
    let reason = format!("select cancel_reason from pgflow.runs where run_id = '{}'", children[0]);
    assert_eq!(db.one(&reason).await, format!("parent run {} failed", run.id));
    db.run(&format!("select pgflow.retry_run('{}')", run.id)).await;
    assert_eq!(run.tasks().await, ["a#0:queued:1", "z#0:queued:1"]);
    assert_eq!(run.task("a", 0, "refunded_count").await, "1", "the attempt that waited counts not");
    db.check().await;
}

/// A map one of whose tasks has failed for good is skipped: the others wait for nothing any more.
#[tokio::test]
async fn a_step_that_is_skipped_waits_no_longer() {
    let flows = define("f", &["m map; max_attempts => 1, when_exhausted => 'skip'", "z after m"])
        + &define("c", &["x"]);
    let db = Db::with(&flows).await;
    let run = db.start("f", "[1, 2]").await;
    db.claim("f").await;
    wait(&run, &db, "m", 1, &two("")).await;
    run.fail("m", 1, "boom").await;
    assert_eq!(run.steps().await, ["m:skipped", "z:started"]);
    db.check().await;
    assert_eq!(db.one(CANCEL).await, "2");
    assert_eq!(started(&db, "c").await.len(), 0);
    db.check().await;
}

#[tokio::test]
async fn a_child_that_cannot_be_started_fails_the_attempt() {
    let db = flows().await;
    db.run(&define("g", &["m map"])).await;
    for (child, error) in [
        (r#"{"flow": "nowhere", "input": 1}"#, "there is no flow `nowhere`"),
        (r#"{"flow": "g", "input": 1}"#, "must be an array and is number"),
    ] {
        let run = db.start("f", "{}").await;
        db.claim("f").await;
        let both = format!(
            r#"{{"on": "runs", "each": true, "children": [{{"flow": "c", "input": 1}}, {child}]}}"#
        );
        assert_eq!(wait(&run, &db, "a", 1, &both).await, "applied");
        assert_eq!(run.tasks().await, ["a#0:queued:1"]);
        assert!(run.task("a", 0, "error_message").await.contains(error), "{error}");
        assert_eq!(started(&db, "c").await.len(), 0, "all or none");
        assert_eq!(db.claim("f").await.len(), 1, "its message is there again");
        db.check().await;
    }
}

#[tokio::test]
async fn no_children_are_over_at_once() {
    let db = flows().await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    wait(&run, &db, "a", 1, r#"{"on": "runs", "each": true, "children": []}"#).await;
    assert_eq!(run.step("a", "output").await, "[]");
    db.check().await;
}

/// A child that ends with its own start tells nobody: it is noted.
#[tokio::test]
async fn a_child_that_is_over_when_it_starts_wakes_its_parent() {
    let db = Db::with(&(define("f", &["a"]) + &define("c", &["x map"]))).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    wait(&run, &db, "a", 1, r#"{"on": "runs", "children": [{"flow": "c", "input": []}]}"#).await;
    db.check().await;
    assert_eq!(db.one(WAKE).await, "1|0");
    assert_eq!(run.get("output").await, r#"{"a": {"x": []}}"#);
    db.check().await;
}

/// Parents of parents, one transaction at a time.
#[tokio::test]
async fn a_chain_goes_up_step_by_step() {
    let db = flows().await;
    let top = db.start("f", "{}").await;
    db.claim("f").await;
    let one = r#"{"on": "runs", "children": [{"flow": "FLOW", "input": 1}]}"#;
    wait(&top, &db, "a", 1, &one.replace("FLOW", "c")).await;
    let middle = started(&db, "c").await.remove(0);
    db.claim("c").await;
    let wait_in_middle = format!(
        "select pgflow.wait_tasks(array['{middle}']::uuid[], array['x'], array[0], array[1], array['{}'::jsonb])",
        one.replace("FLOW", "c")
    );
    db.run(&wait_in_middle).await;
    let mut bottom = started(&db, "c").await;
    bottom.retain(|run| *run != middle);
    db.claim("c").await;
    complete(&db, &bottom[0], "1").await;
    assert_eq!(db.one(WAKE).await, "1|0");
    assert_eq!(db.one(WAKE).await, "1|0");
    assert_eq!(top.step("a", "output").await, r#"{"x": {"x": 1}}"#);
    db.check().await;
}

#[tokio::test]
async fn children_that_take_too_long_are_cancelled() {
    let db = flows().await;
    let (run, children) = parent(&db, r#""timeout": 60,"#).await;
    complete(&db, &children[0], "1").await;
    later(&db, 60).await;
    assert_eq!(db.one(WAKE).await, "0|1");
    assert_eq!(run.task("a", 0, "error_message").await, "nobody answered within 60 s");
    assert_eq!(db.one(CANCEL).await, "1");
    assert_eq!(started(&db, "c").await.len(), 0);
    db.check().await;
}

/// What children put out together may be more than a step may.
#[tokio::test]
async fn too_much_of_children_fails_the_attempt() {
    let db = flows().await;
    let (run, children) = parent(&db, "").await;
    for child in &children {
        complete(&db, child, &format!("\"{}\"", "x".repeat(3_000_000))).await;
    }
    assert_eq!(db.one(WAKE).await, "1|0");
    assert!(run.task("a", 0, "error_message").await.contains("Payload too large"));
    db.check().await;
}

/// The same as elsewhere, in the same words; what takes too long to look at is taken as it is.
#[tokio::test]
async fn what_the_step_cannot_read_fails_the_attempt() {
    let db = flows().await;
    let schema = r#""schema": {"items": {"properties": {"x": {"type": "integer"}}}},"#;
    let (run, children) = parent(&db, schema).await;
    complete(&db, &children[0], "1").await;
    complete(&db, &children[1], "\"2\"").await;
    assert_eq!(db.one(WAKE).await, "1|0");
    let error = "cannot read what it waited for at /1/x: expected integer, found string";
    assert_eq!(run.task("a", 0, "error_message").await, error);
    db.check().await;
    let schema = r#""schema": {"items": {"properties": {"x": {"items": {"type": "integer"}}}}},"#;
    let (run, children) = parent(&db, schema).await;
    let many = serde_json::json!(vec![1; 20_000]).to_string();
    complete(&db, &children[0], &many).await;
    complete(&db, &children[1], &many).await;
    assert_eq!(db.one(WAKE).await, "1|0");
    assert_eq!(run.step("a", "status").await, "completed");
    db.check().await;
}

#[tokio::test]
async fn more_than_a_task_can_wait_for_fails_the_attempt() {
    let db = flows().await;
    let run = db.start("f", "{}").await;
    for (attempt, many, bytes, why) in [
        (1, 10_001, 1, "a task can wait for 10000 runs or jobs at most, not 10001"),
        (2, 30, 2_200_000, "together, and the limit is 64000000"),
    ] {
        db.claim("f").await;
        let wait = format!(
            "select outcome from pgflow.wait_tasks(array['{}']::uuid[], array['a'], array[0], array[{attempt}], array[
               jsonb_build_object('on', 'runs', 'each', true, 'children', (
                 select jsonb_agg(jsonb_build_object('flow', 'c', 'input', repeat('x', {bytes}))) from generate_series(1, {many})))])",
            run.id
        );
        assert_eq!(db.one(&wait).await, "applied");
        let error =
            format!("select error_message from pgflow.step_tasks where run_id = '{}'", run.id);
        let error = db.one(&error).await;
        assert!(error.contains(why), "{error}");
        assert_eq!(started(&db, "c").await, [""; 0], "none of them");
        db.wake("f").await;
    }
    db.check().await;
}

#[tokio::test]
async fn an_end_that_was_told_is_counted_also_if_the_wait_goes_on() {
    let db = flows().await;
    let (_, children) = parent(&db, "").await;
    complete(&db, &children[0], "1").await;
    let wake = "select woken, told > 0 from pgflow.wake_waits()";
    assert_eq!(db.one(wake).await, "0|t");
    assert_eq!(db.one(wake).await, "0|f", "there is nothing more to do");
}
