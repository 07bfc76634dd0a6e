//! `release_tasks`: handed back without an attempt used up.

use crate::harness::{Db, Run, define};

async fn release(db: &Db, run: &Run<'_>, step: &str, index: u32, attempt: i32) -> String {
    let key = format!("array['{}']::uuid[], array['{step}'], array[{index}]", run.id);
    db.one(&format!("select outcome from pgflow.release_tasks({key}, array[{attempt}])")).await
}

#[tokio::test]
async fn a_released_task_can_be_had_at_once() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    assert_eq!(release(&db, &run, "a", 0, 1).await, "applied");
    let columns = "status, started_at, attempts_count, refunded_count, lease_until, error_message";
    assert_eq!(run.task("a", 0, columns).await, "queued|NULL|1|1|NULL|NULL");
    db.check().await;
    let again = db.claim("f").await;
    assert_eq!((again.len(), again[0].attempt), (1, 2), "numbers of attempts are not used twice");
    db.check().await;
}

#[tokio::test]
async fn it_uses_up_no_attempt() {
    let db = Db::with(&define("f", &["a; max_attempts => 2"])).await;
    let run = db.start("f", "{}").await;
    for attempt in 1..=5 {
        db.claim("f").await;
        assert_eq!(release(&db, &run, "a", 0, attempt).await, "applied");
    }
    db.claim("f").await;
    assert_eq!(run.fail("a", 0, "first").await, ["queued"]);
    db.claim("f").await;
    assert_eq!(run.fail("a", 0, "second").await, ["failed"]);
    assert_eq!(run.task("a", 0, "attempts_count, refunded_count").await, "7|5");
    assert_eq!(run.status().await, "failed");
    db.check().await;
}

#[tokio::test]
async fn the_back_off_counts_real_attempts() {
    let db = Db::with(
        "select pgflow.create_flow('f', base_delay => 10); select pgflow.add_step('f', 'a')",
    )
    .await;
    let run = db.start("f", "{}").await;
    for attempt in 1..=3 {
        db.claim("f").await;
        release(&db, &run, "a", 0, attempt).await;
    }
    db.claim("f").await;
    let fail = format!("select from pgflow.fail_task('{}', 'a', 0, 'x', 4)", run.id);
    assert_eq!(db.hides("f", &fail).await, ["a:20"]);
}

#[tokio::test]
async fn results_of_the_released_attempt_are_fenced() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    release(&db, &run, "a", 0, 1).await;
    let settle = |function: &str, value: &str| {
        let key = format!("array['{}']::uuid[], array['a'], array[0]", run.id);
        format!("select outcome from pgflow.{function}({key}, array[{value}], array[1])")
    };
    assert_eq!(db.one(&settle("complete_tasks", "'1'::jsonb")).await, "fenced");
    assert_eq!(db.one(&settle("fail_tasks", "'x'")).await, "fenced");
    db.claim("f").await;
    assert_eq!(db.one(&settle("complete_tasks", "'1'::jsonb")).await, "fenced");
    assert_eq!(run.tasks().await, ["a#0:started:2"]);
    db.check().await;
}

#[tokio::test]
async fn each_item_says_what_became_of_it() {
    let db = Db::with(&define("f", &["a", "b", "m map"])).await;
    let (run, gone) = (db.start("f", "[1, 2]").await, db.start("f", "[1]").await);
    db.claim("f").await;
    run.complete("b", 0, "1").await;
    db.run(&format!("select pgflow.cancel_run('{}')", gone.id)).await;
    let (id, gone_id) = (run.id, gone.id);
    let call = format!(
        "select step_slug, task_index, outcome from pgflow.release_tasks(
            array['{id}', '{id}', '{id}', '{id}', '{gone_id}', '{id}', '{id}']::uuid[],
            array['m', 'a', 'b', 'm', 'a', 'nothing', 'a'], array[1, 0, 0, 0, 0, 0, 0], array[1, 9, 1, 1, 1, 1, null])"
    );
    let outcomes = [
        "m|1|applied",
        "a|0|fenced",
        "b|0|already_settled",
        "m|0|applied",
        "a|0|run_ended",
        "nothing|0|unknown",
        "a|0|fenced",
    ];
    assert_eq!(db.rows(&call).await, outcomes);
    assert_eq!(
        run.tasks().await,
        ["a#0:started:1", "b#0:completed:1", "m#0:queued:1", "m#1:queued:1"]
    );
    assert_eq!(gone.task("a", 0, "status, refunded_count").await, "started|0");
    db.check().await;
}

#[tokio::test]
async fn arrays_that_do_not_belong_together_are_refused() {
    let db = Db::new().await;
    let call =
        "select pgflow.release_tasks(array[gen_random_uuid()], array['a'], array[0], array[1, 2])";
    assert_eq!(db.error(call).await.code, "2202E");
    assert_eq!(db.rows("select pgflow.release_tasks('{}', '{}', '{}', '{}')").await, [""; 0]);
}
