//! `prune_data_older_than`: what stays.

use crate::harness::{Db, define};

const PRUNE: &str = "select runs, step_states, step_tasks, events, messages
    from pgflow.prune_data_older_than(interval '30 days', null)";

#[tokio::test]
async fn a_live_run_stays_however_old_it_is() {
    let db = Db::with(&define("f", &["a", "b after a"])).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "1").await;
    db.run("update pgflow.runs set started_at = now() - interval '5 years'").await;
    db.age_steps().await;
    assert_eq!(db.one(PRUNE).await, "0|0|0|0|0");
    db.check().await;
    run.finish("b", "1").await;
    assert_eq!(run.status().await, "completed");
    db.check().await;
}

#[tokio::test]
async fn a_run_that_ended_lately_stays() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.run("update pgflow.runs set started_at = now() - interval '5 years'").await;
    db.age_steps().await;
    run.finish("a", "1").await;
    assert_eq!(db.one(PRUNE).await, "0|0|0|0|0");
    assert_eq!(run.status().await, "completed");
    db.check().await;
}

/// Whether a run has ended is seen under its lock: it may have been taken up again since it was found.
#[tokio::test]
async fn a_run_that_was_taken_up_again_stays() {
    let db = Db::with(&define("f", &["a; max_attempts => 1"])).await;
    let run = db.start("f", "{}").await;
    run.exhaust("a", "boom").await;
    db.run(&format!("select pgflow.retry_run('{}')", run.id)).await;
    let found = format!("array['{}']::uuid[], now() + interval '1 hour'", run.id);
    assert_eq!(db.one(&format!("select runs from pgflow._prune_runs({found})")).await, "0");
    run.finish("a", "1").await;
    assert_eq!(db.one(&format!("select runs from pgflow._prune_runs({found})")).await, "1");
    db.check().await;
}

#[tokio::test]
async fn a_flow_stays_without_its_runs() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "1").await;
    db.run("update pgflow.runs set started_at = now() - interval '9 days', completed_at = now() - interval '8 days'").await;
    db.run("select pgflow.prune_data_older_than(interval '1 day', null)").await;
    assert_eq!(db.one("select count(*) from pgflow.steps").await, "1");
    let again = db.start("f", "{}").await;
    again.finish("a", "1").await;
    assert_eq!(again.status().await, "completed");
    db.check().await;
}

#[tokio::test]
async fn pruning_waits_for_nobody() {
    let db = Db::with(&define("f", &["a"])).await;
    let (old, live) = (db.start("f", "{}").await, db.start("f", "{}").await);
    db.claim("f").await;
    old.complete("a", 0, "1").await;
    let back = "started_at = now() - interval '90 days', completed_at = now() - interval '80 days'";
    db.run(&format!("update pgflow.runs set {back} where run_id = '{}'", old.id)).await;
    let mut worker = db.session().await;
    worker.run(&format!("begin; select pgflow.complete_task('{}', 'a', 0, '1')", live.id)).await;
    let mut pruner = db.session().await;
    pruner.run("set lock_timeout = '2s'").await;
    assert_eq!(pruner.one(PRUNE).await, "1|1|1|4|0");
    worker.run("commit").await;
    db.check().await;
}

#[tokio::test]
async fn old_archived_messages_go_even_while_their_run_lives() {
    let db = Db::with(&define("f", &["a", "b after a"])).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "1").await;
    db.run("update pgmq.a_f set archived_at = now() - interval '31 days'").await;
    let prune = "select runs, messages, archived_messages from pgflow.prune_data_older_than(interval '30 days', null)";
    assert_eq!(db.one(prune).await, "0|0|1");
    run.finish("b", "1").await;
    assert_eq!(run.status().await, "completed");
    db.check().await;
}
