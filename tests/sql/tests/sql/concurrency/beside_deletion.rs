//! What others can do while one flow is being deleted.

use crate::harness::{Db, Waiting, define};

const CALLS: &[&str] = &[
    "select step_slug from pgflow.claim_tasks(array['f', 'g'], 10)",
    "select step_slug from pgflow.sweep_and_claim(0, array['f', 'g'], 10) where step_slug is not null",
    "select step_slug from pgflow.settle_and_claim(null, null, null, null, null, null, null, null, null, null, null,
        null, array['f', 'g'], 10)",
];

/// They neither wait for the deletion nor fail with it.
#[tokio::test]
async fn claims_and_sweeps_go_on_with_the_other_flows() {
    let db = Db::with(&(define("f", &["a"]) + &define("g", &["b"]))).await;
    db.start("f", "{}").await;
    let mut deleter = db.session().await;
    deleter.run("begin; select pgflow.delete_flow_and_data('f')").await;
    let mut worker = db.session().await;
    worker.run("set statement_timeout = '5s'").await;
    for call in CALLS {
        db.start("g", "{}").await;
        assert_eq!(worker.rows(call).await, ["b"], "{call}");
    }
    for call in [
        "select pgflow.start_tasks('f', array[1], null)",
        "select pgflow.poll_for_tasks('f', 1, 1, max_poll_seconds => 0)",
        "select pgflow.requeue_stalled_tasks()",
        "select pgflow.resume_tasks(array['f', 'g'])",
        "select flow_slug from pgflow.get_flow_versions(array['f', 'g'])",
        "select pgflow.release_unknown_tasks(gen_random_uuid(), array['f', 'g'], '{}', '{}', '{}', '{}')",
        "select pgflow.prune_data_older_than(interval '1 hour')",
        "select invariant from pgflow.check()",
    ] {
        worker.run(call).await;
    }
    deleter.run("commit").await;
    db.check().await;
}

/// A claim that is not committed keeps the flow; after it, the deletion takes its turn.
#[tokio::test]
async fn a_deletion_waits_for_a_claim() {
    let db = Db::with(&define("f", &["a"])).await;
    db.start("f", "{}").await;
    let mut worker = db.session().await;
    worker.run("begin; select pgflow.claim_tasks(array['f'], 1)").await;
    let deletion = Waiting::for_another_try(&db, "select pgflow.delete_flow_and_data('f')").await;
    worker.run("select pgflow.claim_tasks(array['f'], 1); commit").await;
    deletion.answer().await.expect("the flow is free now");
    assert_eq!(
        worker.rows("select step_slug from pgflow.claim_tasks(array['f'], 1)").await,
        [""; 0]
    );
}

/// Locks that anybody can take are not asked for.
#[tokio::test]
async fn a_stranger_cannot_stop_a_flow() {
    let db = Db::with(&define("f", &["a"])).await;
    db.start("f", "{}").await;
    let mut stranger = db.session().await;
    stranger
        .run("select pg_advisory_lock(class, hashtext('f')) from generate_series(0, 100) class")
        .await;
    let mut worker = db.session().await;
    worker.run("set statement_timeout = '5s'").await;
    assert_eq!(
        worker.rows("select step_slug from pgflow.claim_tasks(array['f'], 10)").await,
        ["a"]
    );
}
