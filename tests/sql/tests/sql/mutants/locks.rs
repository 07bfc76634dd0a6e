//! What a session must wait for, with the other one's transaction held open.

use crate::harness::{Db, Waiting, define};

#[tokio::test]
async fn no_task_starts_whose_message_is_being_archived() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    let mut one = db.session().await;
    one.run(&format!("begin; select pgflow.cancel_run('{}')", run.id)).await;
    let start = "select step_slug from pgflow.start_tasks('f', array[1]::bigint[], null)";
    let waiting = Waiting::for_a_lock(&db, start).await;
    one.run("commit").await;
    assert_eq!(waiting.answer().await, Ok(vec![]));
    assert_eq!(run.tasks().await, ["a#0:queued:0"]);
}

#[tokio::test]
async fn two_adders_number_their_steps_one_after_the_other() {
    let db = Db::with(&define("f", &["a"])).await;
    let mut one = db.session().await;
    one.run("begin; select pgflow.add_step('f', 'b')").await;
    let add = "select step_index from pgflow.add_step('f', 'c')";
    let waiting = Waiting::for_a_lock(&db, add).await;
    one.run("commit").await;
    assert_eq!(waiting.answer().await, Ok(vec!["2".to_owned()]));
}

#[tokio::test]
async fn two_creators_never_share_a_queue() {
    let db = Db::new().await;
    let mut one = db.session().await;
    one.run("begin; select pgflow.create_flow('Flow')").await;
    let waiting = Waiting::for_a_lock(&db, "select pgflow.create_flow('fLOW')").await;
    one.run("commit").await;
    let failure = waiting.answer().await.expect_err("the slugs differ in case only");
    assert!(failure.message.contains("differs from the existing flow"), "{failure}");
    assert_eq!(db.rows("select flow_slug from pgflow.flows").await, ["Flow"]);
}

/// Steps before runs: the second session must not hold the run while it waits for the step.
#[tokio::test]
async fn a_last_failure_waits_for_the_map_before_it_takes_the_run() {
    let db = Db::with(&define("f", &["m map; max_attempts => 1"])).await;
    let run = db.start("f", "[1, 2, 3]").await;
    db.claim("f").await;
    let mut one = db.session().await;
    one.run(&format!("begin; select pgflow.complete_task('{}', 'm', 0, '1', 1)", run.id)).await;
    let fail = format!("select status from pgflow.fail_task('{}', 'm', 1, 'boom', 1)", run.id);
    let waiting = Waiting::for_a_lock(&db, &fail).await;
    one.run(&format!("select pgflow.cancel_run('{}'); commit", run.id)).await;
    assert_eq!(waiting.answer().await, Ok(vec!["failed".to_owned()]));
    assert_eq!(run.status().await, "cancelled");
    db.check().await;
}

/// Both tasks use up their attempts; one of them ends the run, once.
#[tokio::test]
async fn two_last_failures_end_the_run_once() {
    let db = Db::with(&define("f", &["a; max_attempts => 1", "b; max_attempts => 1"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let fail = |step: &str| {
        format!("select status from pgflow.fail_task('{}', '{step}', 0, 'boom', 1)", run.id)
    };
    let mut one = db.session().await;
    one.run(&format!("begin; {}", fail("a"))).await;
    let waiting = Waiting::for_a_lock(&db, &fail("b")).await;
    one.run("commit").await;
    assert_eq!(waiting.answer().await, Ok(vec!["failed".to_owned()]));
    assert_eq!(run.steps().await, ["a:failed", "b:started"]);
    assert_eq!(run.events().await.last().map(String::as_str), Some("run:failed"));
    db.check().await;
}

#[tokio::test]
async fn pruning_passes_over_a_run_that_somebody_holds() {
    let db = Db::with(&define("f", &["a"])).await;
    for _ in 0..2 {
        db.start("f", "{}").await.finish("a", "1").await;
    }
    let back = "started_at = now() - interval '90 days', completed_at = now() - interval '80 days'";
    db.run(&format!("update pgflow.runs set {back}")).await;
    let (mut reader, mut pruner) = (db.session().await, db.session().await);
    let hold = "begin; select from pgflow.runs order by run_id limit 1 for update";
    reader.run(hold).await;
    pruner.run("set lock_timeout = '2s'").await;
    let prune = "select runs from pgflow.prune_data_older_than(interval '30 days', null)";
    assert_eq!(pruner.one(prune).await, "1");
    reader.run("commit").await;
    assert_eq!(pruner.one(prune).await, "1");
    db.check().await;
}

/// All task locks in one sorted round, whether a task has attempts left or not.
#[tokio::test]
async fn a_batch_of_failures_takes_its_tasks_in_order() {
    let db = Db::with(&define("f", &["a; max_attempts => 1", "b"])).await;
    let id = |n: u32| format!("00000000-0000-4000-8000-{n:012}");
    for n in [1, 2] {
        db.run(&format!("select pgflow.start_flow('f', '{{}}', '{}')", id(n))).await;
    }
    db.claim("f").await;
    let beat = |n: u32, step: &str| {
        let key = format!("array['{}']::uuid[], array['{step}'], array[0], array[1]", id(n));
        format!("select outcome from pgflow.heartbeat({key})")
    };
    let mut one = db.session().await;
    one.run("begin").await;
    one.run(&beat(1, "b")).await;
    let keys = format!("array['{}', '{}']::uuid[], array['a', 'b'], array[0, 0]", id(2), id(1));
    let fail =
        format!("select outcome from pgflow.fail_tasks({keys}, array['x', 'y'], array[1, 1])");
    let waiting = Waiting::for_a_lock(&db, &fail).await;
    assert_eq!(one.rows(&beat(2, "a")).await, ["extended"]);
    one.run("commit").await;
    assert_eq!(waiting.answer().await, Ok(vec!["applied".to_owned(); 2]));
    db.check().await;
}

fn settle(n: [u32; 2], step: [&str; 2], index: [u32; 2]) -> String {
    let id = |n: u32| format!("array['00000000-0000-4000-8000-{n:012}']::uuid[]");
    format!(
        "select outcome from pgflow.settle_and_claim(
            {}, array['{}'], array[{}], array['1'::jsonb], array[1],
            {}, array['{}'], array[{}], array['x'], array[1], null, null, null, 0)",
        id(n[0]),
        step[0],
        index[0],
        id(n[1]),
        step[1],
        index[1]
    )
}

/// Tasks of both kinds in one sorted round.
#[tokio::test]
async fn a_mixed_batch_takes_its_tasks_in_order() {
    let db = Db::with(&define("f", &["a", "b"])).await;
    for n in [1, 2] {
        db.run(&format!(
            "select pgflow.start_flow('f', '{{}}', '00000000-0000-4000-8000-{n:012}')"
        ))
        .await;
    }
    db.claim("f").await;
    let beat = |n: u32| {
        let key = format!("array['00000000-0000-4000-8000-{n:012}']::uuid[], array['a'], array[0]");
        format!("select outcome from pgflow.heartbeat({key}, array[1])")
    };
    let mut one = db.session().await;
    one.run("begin").await;
    one.run(&beat(1)).await;
    let waiting = Waiting::for_a_lock(&db, &settle([2, 1], ["a", "a"], [0, 0])).await;
    assert_eq!(one.rows(&beat(2)).await, ["extended"], "the second task is not locked yet");
    one.run("commit").await;
    assert_eq!(waiting.answer().await, Ok(vec!["applied".to_owned(); 2]));
    db.check().await;
}

/// Map steps of both kinds in one sorted round, before any run.
#[tokio::test]
async fn a_mixed_batch_takes_its_map_steps_in_order() {
    let db = Db::with(&define("f", &["m map; max_attempts => 1", "n map"])).await;
    db.run("select pgflow.start_flow('f', '[1, 2, 3]', '00000000-0000-4000-8000-000000000001')")
        .await;
    db.claim("f").await;
    let complete = |step: &str| {
        let id = "'00000000-0000-4000-8000-000000000001'";
        format!("select status from pgflow.complete_task({id}, '{step}', 1, '1', 1)")
    };
    let mut one = db.session().await;
    one.run(&format!("begin; {}", complete("m"))).await;
    let waiting = Waiting::for_a_lock(&db, &settle([1, 1], ["n", "m"], [0, 0])).await;
    assert_eq!(one.rows(&complete("n")).await, ["completed"], "the second step is not locked yet");
    one.run("commit").await;
    let outcomes = waiting.answer().await.map(|all| all.join(" "));
    assert_eq!(outcomes.as_deref(), Ok("applied applied failed"), "and the run has failed");
    db.check().await;
}
