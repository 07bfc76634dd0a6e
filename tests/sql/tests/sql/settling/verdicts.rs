//! `fail_tasks` with a delay, or without hope.

use crate::harness::{Db, Run, define};

fn fail(run: &Run<'_>, step: &str, verdict: &str) -> String {
    let key = format!("array['{}']::uuid[], array['{step}'], array[0]", run.id);
    format!("select outcome from pgflow.fail_tasks({key}, array['boom'], array[1], {verdict})")
}

#[tokio::test]
async fn a_delay_takes_the_place_of_the_back_off() {
    let db = Db::with(
        "select pgflow.create_flow('f', base_delay => 10);
         select pgflow.add_step('f', 'a'), pgflow.add_step('f', 'b'), pgflow.add_step('f', 'c');",
    )
    .await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let id = run.id;
    let call = format!(
        "select from pgflow.fail_tasks(array['{id}', '{id}', '{id}']::uuid[], array['a', 'b', 'c'], array[0, 0, 0],
            array['x', 'y', 'z'], array[1, 1, 1], delays => array[3600, null, 315360000])"
    );
    assert_eq!(db.hides("f", &call).await, ["a:3600", "b:20", "c:315360000"]);
    assert_eq!(run.tasks().await, ["a#0:queued:1", "b#0:queued:1", "c#0:queued:1"]);
    db.check().await;
}

#[tokio::test]
async fn a_delay_of_nothing_is_at_once() {
    let db = Db::with(
        "select pgflow.create_flow('f', base_delay => 10); select pgflow.add_step('f', 'a');",
    )
    .await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    assert_eq!(db.rows(&fail(&run, "a", "delays => array[0]")).await, ["applied"]);
    assert_eq!(db.claim("f").await.len(), 1);
    db.check().await;
}

#[tokio::test]
async fn a_delay_does_not_help_when_no_attempt_is_left() {
    let db = Db::with(&define("f", &["a; max_attempts => 1"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    assert_eq!(db.rows(&fail(&run, "a", "delays => array[5]")).await, ["applied"]);
    assert_eq!(run.status().await, "failed");
    db.check().await;
}

#[tokio::test]
async fn a_fatal_failure_is_the_last() {
    let db = Db::with(&define("f", &["a", "b"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    assert_eq!(db.rows(&fail(&run, "a", "fatal => array[true]")).await, ["applied"]);
    assert_eq!(run.steps().await, ["a:failed", "b:started"]);
    assert_eq!(run.task("a", 0, "status, attempts_count, error_message").await, "failed|1|boom");
    assert_eq!(run.status().await, "failed");
    assert_eq!(db.queue("f").await, [""; 0]);
    db.check().await;
}

#[tokio::test]
async fn when_exhausted_decides_what_a_fatal_failure_means() {
    let db = Db::with(
        &(define("s", &["a; when_exhausted => 'skip'", "z after a"])
            + &define("c", &["a; when_exhausted => 'skip-cascade'", "z after a"])),
    )
    .await;
    for (flow, steps) in [("s", ["a:skipped", "z:started"]), ("c", ["a:skipped", "z:skipped"])] {
        let run = db.start(flow, "{}").await;
        db.claim(flow).await;
        db.run(&fail(&run, "a", "fatal => array[true]")).await;
        assert_eq!(run.steps().await, steps);
        db.check().await;
    }
}

#[tokio::test]
async fn only_the_fatal_item_is_fatal() {
    let db = Db::with(&define("f", &["a; when_exhausted => 'skip'", "b"])).await;
    let (run, other) = (db.start("f", "{}").await, db.start("f", "{}").await);
    db.claim("f").await;
    let ids = [run.id, run.id, other.id].map(|id| format!("'{id}'")).join(", ");
    let call = format!(
        "select outcome from pgflow.fail_tasks(array[{ids}]::uuid[], array['a', 'b', 'a'], array[0, 0, 0],
            array['x', 'y', 'z'], array[1, 1, 1], fatal => array[true, false, null])"
    );
    assert_eq!(db.rows(&call).await, ["applied"; 3]);
    assert_eq!(run.steps().await, ["a:skipped", "b:started"]);
    assert_eq!(run.task("b", 0, "status").await, "queued");
    assert_eq!(other.task("a", 0, "status").await, "queued");
    db.check().await;
}

#[tokio::test]
async fn a_zombies_fatal_failure_changes_nothing() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    run.fail("a", 0, "x").await;
    db.claim("f").await;
    assert_eq!(db.rows(&fail(&run, "a", "fatal => array[true]")).await, ["fenced"]);
    assert_eq!(run.tasks().await, ["a#0:started:2"]);
    db.check().await;
}

#[tokio::test]
async fn verdicts_that_cannot_be_are_refused() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    for (verdict, code, says) in [
        ("delays => array[1, 2]", "2202E", "1 run_ids, 2 delays, 1 fatal"),
        ("fatal => array[]::boolean[]", "2202E", "1 run_ids, 1 delays, 0 fatal"),
        ("delays => array[-1]", "22023", "must not be negative: -1"),
    ] {
        let failure = db.error(&fail(&run, "a", verdict)).await;
        assert_eq!(failure.code, code);
        assert!(failure.message.contains(says), "{failure}");
    }
    assert_eq!(run.tasks().await, ["a#0:started:1"]);
    db.check().await;
}
