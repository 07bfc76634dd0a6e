//! Claims of several tasks of one map, which are started together: they are as careful as all others.

use crate::harness::{Db, Run, define};

const WORKER: &str = "11111111-1111-4111-8111-111111111111";

async fn started(db: &Db) -> Run<'_> {
    db.run(&define("f", &["m map; timeout => 7", "n map"])).await;
    db.run(&format!(
        "insert into pgflow.workers (worker_id, queue_name, function_name) values ('{WORKER}', 'f', 'f')"
    ))
    .await;
    let run = db.start("f", "[10, 11, 12]").await;
    // One step is enough.
    db.run("delete from pgmq.q_f where message->>'step_slug' = 'n'").await;
    run
}

/// What a claim gives after something was changed: index, input, attempt and timeout.
async fn claimed_after(change: &str) -> Vec<String> {
    let db = Db::new().await;
    let run = started(&db).await;
    db.run(&change.replace("RUN", &run.id.to_string())).await;
    db.rows(&format!(
        "select task_index, input, attempt, timeout from pgflow.claim_tasks(array['f'], 10, '{WORKER}') order by 1"
    ))
    .await
}

#[tokio::test]
async fn they_are_handed_out_with_all_they_need() {
    let all = ["0|10|1|7", "1|11|1|7", "2|12|1|7"];
    assert_eq!(claimed_after("select 1").await, all);
    // An attempt that was before.
    let again = "update pgflow.step_tasks set attempts_count = 4, refunded_count = 4 where step_slug = 'm' and task_index = 1";
    assert_eq!(claimed_after(again).await, ["0|10|1|7", "1|11|5|7", "2|12|1|7"]);
}

#[tokio::test]
async fn only_what_may_start_does() {
    const NONE: [&str; 0] = [];
    let ended = "update pgflow.runs set status = 'cancelled', cancelled_at = now()";
    assert_eq!(claimed_after(ended).await, NONE, "of a run that has ended");
    let skipped = "update pgflow.step_states set status = 'skipped', skipped_at = now(), skip_reason = 'condition_unmet', remaining_tasks = null";
    assert_eq!(claimed_after(skipped).await, NONE, "of a step that was skipped");
    let others = ["0|10|1|7", "2|12|1|7"];
    for (change, what) in [
        ("status = 'started', started_at = now()", "somebody has it"),
        ("permanently_stalled_at = now()", "it was given up"),
        ("message_id = 1000", "its message is another one"),
    ] {
        let change = format!(
            "update pgflow.step_tasks set {change} where step_slug = 'm' and task_index = 1"
        );
        assert_eq!(claimed_after(&change).await, others, "{what}");
    }
}

/// Somebody's messages among ours: they start nothing, and keep nothing from starting.
#[tokio::test]
async fn messages_that_are_not_ours_do_no_harm() {
    let all = ["0|10|1|7", "1|11|1|7", "2|12|1|7"];
    for body in [
        r#"{"run_id": "RUN", "step_slug": "m", "task_index": "x"}"#,
        r#"{"run_id": "RUN", "step_slug": "m", "task_index": 1e30}"#,
        r#"{"run_id": "RUN", "step_slug": "n", "task_index": 0}"#,
        r#"{"run_id": "no run", "step_slug": "m", "task_index": 0}"#,
        r#"{"step_slug": "m"}"#,
        "[]",
    ] {
        for moment in ["- interval '1 hour'", ""] {
            let send = format!(
                "insert into pgmq.q_f (vt, message) values (now() {moment}, '{body}'::jsonb)"
            );
            assert_eq!(claimed_after(&send).await, all, "{body} {moment}");
        }
    }
}

/// As wide as maps may be made.
#[tokio::test]
async fn the_last_tasks_of_the_widest_map_start() {
    for index in [1_000_001, 9_999_999] {
        let renumbered = format!(
            "update pgflow.step_tasks set task_index = {index} where step_slug = 'm' and task_index = 1;
             update pgmq.q_f set message = jsonb_set(message, '{{task_index}}', '{index}') where message ->> 'task_index' = '1'"
        );
        let last = format!("{index}|11|1|7");
        assert_eq!(claimed_after(&renumbered).await, ["0|10|1|7", "2|12|1|7", &last]);
    }
}

#[tokio::test]
async fn an_index_may_be_a_text() {
    let written = "update pgmq.q_f set message = jsonb_set(message, '{task_index}', '\"1\"') where message ->> 'task_index' = '1'";
    assert_eq!(claimed_after(written).await, ["0|10|1|7", "1|11|1|7", "2|12|1|7"]);
}

/// A session that holds a task is not waited for.
#[tokio::test]
async fn a_task_that_is_locked_is_left_alone() {
    let db = Db::new().await;
    started(&db).await;
    let mut other = db.session().await;
    other.run("begin; select 1 from pgflow.step_tasks where step_slug = 'm' and task_index = 1 for update").await;
    let mut session = db.session().await;
    session.run("set lock_timeout = '5s'").await;
    let claim = "select task_index from pgflow.claim_tasks(array['f'], 10) order by 1";
    assert_eq!(session.rows(claim).await, ["0", "2"]);
    other.run("rollback").await;
    db.wake("f").await;
    assert_eq!(session.rows(claim).await, ["1"]);
}

/// Where they may be too much together, each is measured.
#[tokio::test]
async fn behind_a_large_output_they_come_in_portions() {
    let db = Db::with(&define("f", &["a map", "m map after a"])).await;
    let run = db.start("f", "[1, 2, 3]").await;
    db.claim("f").await;
    let text = "to_jsonb(repeat('x', 4000000))";
    for index in 0..3 {
        let done =
            format!("select 1 from pgflow.complete_task('{}', 'a', {index}, {text})", run.id);
        db.run(&done).await;
    }
    db.run("update pgflow.step_states set output_bytes = 100000000 where step_slug = 'a'").await;
    db.run("update pgflow.step_tasks set input = to_jsonb(repeat('x', 30000000)) where step_slug = 'm'").await;
    assert_eq!(db.rows("select task_index from pgflow.claim_tasks(array['f'], 10)").await.len(), 2);
    assert_eq!(db.rows("select task_index from pgflow.claim_tasks(array['f'], 10)").await.len(), 1);
}
