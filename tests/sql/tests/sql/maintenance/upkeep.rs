//! What operators read: flows, queues, tasks, workers, statistics.

use crate::harness::{Db, define};

const WORKER: &str = "11111111-1111-1111-1111-111111111111";

/// A flow with a run that has completed, one that has failed and one that goes on.
async fn used() -> Db {
    let db = Db::with(&define("f", &["a; max_attempts => 1", "m map after a"])).await;
    let done = db.start("f", "{}").await;
    done.finish("a", "[]").await;
    let failed = db.start("f", "{}").await;
    failed.exhaust("a", "boom").await;
    db.start("f", "{}").await;
    db
}

#[tokio::test]
async fn flows_and_their_definitions() {
    let db = used().await;
    let flows = "select flow_name, version, flow_slug, is_current, steps from pgflow.get_flows()";
    assert_eq!(db.rows(flows).await, ["f|1|f|t|2"]);
    db.run(r#"select pgflow.set_flow_input_schema('f', '{"type": "object"}')"#).await;
    let definition = "select jsonb_array_length(shape -> 'steps'), shape #>> '{steps,0,options,maxAttempts}', input_schema
        from pgflow.get_flow_definition('f')";
    assert_eq!(db.rows(definition).await, [r#"2|1|{"type": "object"}"#]);
    assert_eq!(db.rows("select shape from pgflow.get_flow_definition('none')").await, [""; 0]);
}

#[tokio::test]
async fn queues_and_tasks() {
    let db = used().await;
    let depths = "select flow_slug, ready, delayed, running, oldest_ready_at is not null from pgflow.get_queue_depths()";
    assert_eq!(db.rows(depths).await, ["f|1|0|0|t"]);
    let open = db.one("select run_id from pgflow.runs where status = 'started'").await;
    db.claim("f").await;
    assert_eq!(db.rows(depths).await, ["f|0|0|1|f"]);
    let tasks = format!(
        "select task_index, status, attempts, losses from pgflow.list_tasks('{open}', 'a')"
    );
    assert_eq!(db.rows(&tasks).await, ["0|started|1|0"]);
    let failed = "select t.error_message from pgflow.runs r, pgflow.list_tasks(r.run_id, 'a', array['failed']) t
        where r.status = 'failed'";
    assert_eq!(db.rows(failed).await, ["boom"]);
}

#[tokio::test]
async fn runs_by_the_beginning_of_their_ids() {
    let db = used().await;
    let all = "select count(*) from pgflow.get_runs_between(
        '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff')";
    assert_eq!(db.one(all).await, "3");
    let one = "select b.status from pgflow.runs r, pgflow.get_runs_between(r.run_id, r.run_id) b
        where r.status = 'failed'";
    assert_eq!(db.rows(one).await, ["failed"]);
    let times = "select t.step_slug, t.started_at is not null, t.ended_at is not null
        from pgflow.runs r, pgflow.get_step_times(r.run_id) t where r.status = 'failed' and t.step_slug = 'a'";
    assert_eq!(db.rows(times).await, ["a|t|t"]);
}

#[tokio::test]
async fn statistics_of_steps_and_minutes() {
    let db = used().await;
    let steps = "select step_slug, completed, failed, skipped from pgflow.get_step_statistics('f', '1 hour') order by 1";
    assert_eq!(db.rows(steps).await, ["a|1|1|0", "m|1|0|0"]);
    let minutes = "select sum(started), sum(completed), sum(failed), sum(cancelled)
        from pgflow.get_activity(null, '1 hour') where minute is not null";
    assert_eq!(db.one(minutes).await, "3|1|1|0");
}

#[tokio::test]
async fn workers_that_are_heard_of() {
    let db = used().await;
    db.run(&format!(
        "insert into pgflow.workers (worker_id, queue_name, function_name) values ('{WORKER}', 'f', 'f')"
    ))
    .await;
    let workers = "select worker_id, running, stopped_at is null from pgflow.list_workers()";
    assert_eq!(db.rows(workers).await, [format!("{WORKER}|0|t")]);
    db.run(&format!("select pgflow.mark_worker_stopped('{WORKER}')")).await;
    assert_eq!(db.rows(workers).await, [""; 0]);
    let gone = "select stopped_at is not null from pgflow.list_workers(with_gone => true)";
    assert_eq!(db.rows(gone).await, ["t"]);
}

#[tokio::test]
async fn runs_that_a_prune_would_delete() {
    let db = used().await;
    assert_eq!(db.one("select pgflow.count_prunable_runs('0', 10)").await, "2");
    assert_eq!(db.one("select pgflow.count_prunable_runs('0', 1)").await, "1");
    assert_eq!(db.one("select pgflow.count_prunable_runs('1 hour', 10)").await, "0");
}
