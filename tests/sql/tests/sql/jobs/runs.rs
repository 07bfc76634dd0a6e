//! Waiting for runs of flows.

use super::{archive, live, submit_with};
use crate::harness::{Db, Waiting, define};

async fn after_run(db: &Db, id: &str, run: &str, policy: &str) {
    let edges = format!(
        "edge_jobs => array[1], edge_kinds => array['run'], dependencies => array['{run}'], policies => array['{policy}']"
    );
    submit_with(db, id, "n", &edges).await;
}

#[tokio::test]
async fn a_run_releases_its_waiters_however_it_ends() {
    let db = Db::with(&define("f", &["a; max_attempts => 1"])).await;
    for end in ["completed", "failed", "cancelled"] {
        let run = db.start("f", "{}").await;
        let id = run.id.to_string();
        after_run(&db, &format!("released-{end}"), &id, "release").await;
        after_run(&db, &format!("fails-{end}"), &id.to_uppercase(), "fail").await;
        after_run(&db, &format!("cancelled-{end}"), &id, "cancel").await;
        db.check().await;
        match end {
            "completed" => run.finish("a", "1").await,
            "failed" => run.exhaust("a", "boom").await,
            _ => db.run(&format!("select pgflow.cancel_run('{id}')")).await,
        }
        // What is over is not waited for.
        after_run(&db, &format!("late-{end}"), &id, "release").await;
        db.check().await;
    }
    assert_eq!(
        live(&db).await,
        [
            "released-completed:n:ready",
            "fails-completed:n:ready",
            "cancelled-completed:n:ready",
            "late-completed:n:ready",
            "released-failed:n:ready",
            "late-failed:n:ready",
            "released-cancelled:n:ready",
            "late-cancelled:n:ready",
        ]
    );
    assert_eq!(
        archive(&db).await,
        [
            "fails-failed:failed",
            "cancelled-failed:cancelled",
            "fails-cancelled:failed",
            "cancelled-cancelled:cancelled",
        ]
    );
}

/// The run starts while the submission waits for a job that somebody holds: nobody has told it that it is waited for, so the
/// job would wait for ever.
#[tokio::test]
async fn a_run_that_starts_meanwhile_is_not_waited_for_in_vain() {
    let db = Db::with(&define("f", &["a"])).await;
    submit_with(&db, "other", "n", "priorities => null").await;
    let mut holder = db.session().await;
    holder.run("begin; select 1 from pgflow.jobs where id = 'other' for update").await;
    let id = "00000000-0000-4000-8000-000000000001";
    let submit = format!(
        "select outcome from pgflow.submit_jobs(array['x'], array['n'], edge_jobs => array[1, 1], edge_kinds => array['run', 'job'],
           dependencies => array['{id}', 'other'])"
    );
    let submitting = Waiting::for_a_lock(&db, &submit).await;
    db.run(&format!("select 1 from pgflow.start_flow('f', '{{}}', '{id}')")).await;
    holder.run("commit").await;
    let failure = submitting.answer().await.expect_err("it was not there");
    assert!(failure.detail.unwrap_or_default().contains("unknown_dependency"));
    db.check().await;
    // Now it is.
    assert_eq!(db.one(&submit).await, "submitted");
    db.check().await;
}

#[tokio::test]
async fn a_run_that_is_deleted_releases_too() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    after_run(&db, "x", &run.id.to_string(), "release").await;
    db.run("select pgflow.delete_flow_and_data('f')").await;
    assert_eq!(live(&db).await, ["x:n:ready"]);
    db.check().await;
}

/// The submission holds the run; its end waits, and sees the edge.
#[tokio::test]
async fn no_wake_up_is_lost_between_a_run_and_a_submission() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    let mut first = db.session().await;
    first.run("begin").await;
    first.run(&format!("select pgflow.submit_jobs(array['x'], array['n'], edge_jobs => array[1], edge_kinds => array['run'], dependencies => array['{}'])", run.id)).await;
    let end = crate::harness::Waiting::for_a_lock(
        &db,
        &format!("select pgflow.cancel_run('{}')", run.id),
    )
    .await;
    first.run("commit").await;
    end.answer().await.expect("cancelled");
    assert_eq!(live(&db).await, ["x:n:ready"]);
    db.check().await;
}

#[tokio::test]
async fn a_run_that_never_was_is_refused() {
    let db = Db::new().await;
    let unknown = "select pgflow.submit_jobs(array['x'], array['n'], edge_jobs => array[1], edge_kinds => array['run'],
        dependencies => array['00000000-0000-4000-8000-000000000001'])";
    let refused = db.error(unknown).await;
    assert!(refused.detail.expect("a problem").contains("unknown_dependency"));
    assert_eq!(live(&db).await, [""; 0]);
}

/// Most runs have nobody who waits: their ends do not look for jobs.
#[tokio::test]
async fn only_runs_that_are_waited_for_look_for_jobs() {
    let db = Db::with(&define("f", &["a"])).await;
    let (alone, awaited) = (db.start("f", "{}").await, db.start("f", "{}").await);
    after_run(&db, "x", &awaited.id.to_string(), "release").await;
    let looks =
        "select run_id, coalesce(awaited, false) from pgflow.runs order by started_at, run_id";
    assert_eq!(db.rows(looks).await, [format!("{}|f", alone.id), format!("{}|t", awaited.id)]);
    // Over by the time of the hand-over: nothing to wait for, and nothing to tell.
    alone.finish("a", "1").await;
    after_run(&db, "y", &alone.id.to_string(), "release").await;
    assert_eq!(db.one("select count(*) from pgflow.runs where awaited").await, "1");
    awaited.finish("a", "1").await;
    assert_eq!(live(&db).await, ["x:n:ready", "y:n:ready"]);
    db.check().await;
}

/// Deleted with its version, or pruned when it was over: nobody waits for it for ever.
#[tokio::test]
async fn pruned_runs_and_versions_leave_nobody_waiting() {
    let db = Db::with(&define("f", &["a"])).await;
    let (over, goes_on) = (db.start("f", "{}").await, db.start("f", "{}").await);
    after_run(&db, "x", &over.id.to_string(), "release").await;
    after_run(&db, "y", &goes_on.id.to_string(), "fail").await;
    over.finish("a", "1").await;
    db.run("update pgflow.runs set started_at = started_at - interval '2 days', completed_at = completed_at - interval '1 day' where completed_at is not null").await;
    db.run("select pgflow.prune_data_older_than(interval '1 hour')").await;
    assert_eq!(db.one("select count(*) from pgflow.runs").await, "1", "pruned");
    db.run("delete from pgflow.runs").await;
    assert_eq!(live(&db).await, ["x:n:ready"]);
    assert_eq!(archive(&db).await, ["y:failed"]);
    assert_eq!(db.one("select count(*) from pgflow.job_edges").await, "0");
}
