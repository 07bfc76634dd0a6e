//! `prune_data_older_than` and `prune_runs`: what goes.

use crate::harness::{Db, Run, define};

async fn age(db: &Db, run: &Run<'_>) {
    let back = "interval '40 days'";
    db.run(&format!(
        "update pgflow.runs set started_at = started_at - {back}, completed_at = completed_at - {back},
            failed_at = failed_at - {back}, cancelled_at = cancelled_at - {back} where run_id = '{0}';
         update pgmq.a_f set archived_at = archived_at - {back} where message->>'run_id' = '{0}'",
        run.id
    ))
    .await;
    db.age_steps().await;
}

const PRUNE: &str =
    "select runs, step_states, step_tasks, events, messages, archived_messages, workers
    from pgflow.prune_data_older_than(retention_interval => interval '30 days', max_runs => null)";

async fn rows_of(db: &Db, run: &Run<'_>) -> String {
    let count =
        |table: &str| format!("(select count(*) from pgflow.{table} where run_id = '{}')", run.id);
    db.one(&format!(
        "select {}",
        ["runs", "step_states", "step_tasks", "events"].map(count).join(", ")
    ))
    .await
}

#[tokio::test]
async fn old_runs_go_with_all_they_had() {
    let db = Db::with(&define("f", &["a; max_attempts => 1", "b after a"])).await;
    let (done, failed) = (db.start("f", "{}").await, db.start("f", "{}").await);
    let (cancelled, young) = (db.start("f", "{}").await, db.start("f", "{}").await);
    db.claim("f").await;
    for run in [&done, &young] {
        run.complete("a", 0, "1").await;
        run.finish("b", "2").await;
    }
    failed.fail("a", 0, "boom").await;
    db.run(&format!("select pgflow.cancel_run('{}')", cancelled.id)).await;
    for run in [&done, &failed, &cancelled] {
        age(&db, run).await;
    }
    let kept = rows_of(&db, &young).await;
    assert_eq!(db.one(PRUNE).await, "3|6|4|13|0|4|0");
    for run in [&done, &failed, &cancelled] {
        assert_eq!(rows_of(&db, run).await, "0|0|0|0");
    }
    assert_eq!(rows_of(&db, &young).await, kept);
    assert_eq!(db.archive("f").await, ["a#0", "b#0"]);
    assert_eq!(db.one(PRUNE).await, "0|0|0|0|0|0|0");
    db.check().await;
}

#[tokio::test]
async fn leftover_messages_of_old_runs_go() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "1").await;
    age(&db, &run).await;
    db.run("with m as (delete from pgmq.a_f returning msg_id, message)
            insert into pgmq.q_f (msg_id, vt, message) overriding system value select msg_id, now(), message from m").await;
    assert_eq!(db.one(PRUNE).await, "1|1|1|4|1|0|0");
    assert_eq!(db.queue("f").await, [""; 0]);
    db.check().await;
}

#[tokio::test]
async fn old_workers_go() {
    let db = Db::new().await;
    let insert = "insert into pgflow.workers (worker_id, queue_name, function_name, last_heartbeat_at) values";
    db.run(&format!(
        "{insert} (gen_random_uuid(), 'q', 'old', now() - interval '31 days'),
                              (gen_random_uuid(), 'q', 'new', now() - interval '29 days')"
    ))
    .await;
    assert_eq!(db.one(PRUNE).await, "0|0|0|0|0|0|1");
    assert_eq!(db.one("select function_name from pgflow.workers").await, "new");
    db.check().await;
}

#[tokio::test]
async fn a_batch_takes_no_more_runs_than_asked_for() {
    let db = Db::with(&define("f", &["a"])).await;
    for _ in 0..5 {
        let run = db.start("f", "{}").await;
        run.finish("a", "1").await;
        age(&db, &run).await;
    }
    let prune = "select runs from pgflow.prune_data_older_than(interval '30 days', max_runs => 2)";
    for expected in ["2", "2", "1", "0"] {
        assert_eq!(db.one(prune).await, expected);
        db.check().await;
    }
}

#[tokio::test]
async fn a_pruned_run_id_can_be_used_again() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "1").await;
    age(&db, &run).await;
    db.run(PRUNE).await;
    db.run(&format!("select pgflow.start_flow('f', '{{}}', '{}')", run.id)).await;
    assert_eq!(run.events().await, ["run:started", "step:a:started"]);
    run.finish("a", "2").await;
    assert_eq!(run.get("output").await, r#"{"a": 2}"#);
    db.check().await;
}

/// A snippet that others bring along, as short as it gets: same name, one parameter, no result.
const SNIPPET: &str =
    "create or replace function pgflow.prune_data_older_than(retention_interval interval)
    returns void language plpgsql as $$ begin
      delete from pgflow.workers where last_heartbeat_at < now() - retention_interval;
    end $$";

#[tokio::test]
async fn a_snippet_of_the_same_name_can_be_called_beside_it() {
    let db = Db::with(&define("f", &["a"])).await;
    for _ in 0..2 {
        db.start("f", "{}").await.finish("a", "1").await;
        db.run("update pgflow.runs set started_at = started_at - interval '2 days', completed_at = completed_at - interval '1 day';
                update pgflow.step_states set created_at = created_at - interval '2 days'").await;
    }
    db.run("select pgflow.prune_data_older_than(interval '30 days')").await;
    assert_eq!(db.one("select count(*) from pgflow.runs").await, "2");
    db.run(SNIPPET).await;
    db.run(
        "select pgflow.prune_data_older_than(interval '1 hour');
            select pgflow.prune_data_older_than('1 hour');
            select pgflow.prune_data_older_than(retention_interval => '1 hour')",
    )
    .await;
    assert_eq!(
        db.one("select count(*) from pgflow.runs").await,
        "2",
        "the snippet deletes workers only"
    );
    let ours = "select runs from pgflow.prune_data_older_than('1 hour', max_runs => 1)";
    assert_eq!(db.one(ours).await, "1");
    assert_eq!(
        db.one("select runs from pgflow.prune_data_older_than(interval '1 hour', null)").await,
        "1"
    );
}

#[tokio::test]
async fn runs_are_pruned_a_few_at_a_time() {
    let db = Db::with(&(define("f", &["a"]) + &define("g", &["a"]))).await;
    for _ in 0..5 {
        let run = db.start("f", "{}").await;
        run.finish("a", "1").await;
        age(&db, &run).await;
    }
    let (open, young) = (db.start("f", "{}").await, db.start("g", "{}").await);
    age(&db, &open).await;
    young.finish("a", "1").await;
    let prune = "select pgflow.prune_runs('30 days', 2)";
    for pruned in ["2", "2", "1", "0"] {
        assert_eq!(db.one(prune).await, pruned);
    }
    assert_eq!(rows_of(&db, &open).await, "1|1|1|2");
    assert_eq!(rows_of(&db, &young).await, "1|1|1|4");
    assert_eq!(db.archive("f").await, [""; 0]);
    for wrong in ["null", "interval '-1 day'"] {
        assert_eq!(db.error(&format!("select pgflow.prune_runs({wrong})")).await.code, "22023");
    }
    db.check().await;
}

#[tokio::test]
async fn a_retention_that_is_no_time_is_refused() {
    let db = Db::with(&define("f", &["a"])).await;
    db.start("f", "{}").await.finish("a", "1").await;
    for call in [
        "prune_data_older_than(interval '-1 day')",
        "prune_data_older_than(null::interval)",
        "prune_data_older_than('-1 day', 5)",
        "prune_runs('-1 day')",
        "prune_runs(null)",
        "prune_runs('0', null)",
        "prune_runs('0', 0)",
    ] {
        assert_eq!(db.error(&format!("select pgflow.{call}")).await.code, "22023", "{call}");
    }
    assert_eq!(db.one("select count(*) from pgflow.runs").await, "1");
}
