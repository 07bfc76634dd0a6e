//! A transaction may be older than the run it works on: `now()` is its start.

use uuid::Uuid;

use crate::harness::{Db, Session, define};

/// A session whose transaction began before the run did.
async fn older(db: &Db, input: &str) -> (Session, Uuid) {
    let mut session = db.session().await;
    session.run("begin; select now()").await;
    let run = db.start("f", input).await;
    (session, run.id)
}

const CLAIM: &str = "select step_slug from pgflow.claim_tasks(array['f'], 10)";

#[tokio::test]
async fn it_can_take_a_run_to_its_end() {
    let db = Db::with(&define("f", &["a", "m map after a", "e map after a"])).await;
    let (mut session, id) = older(&db, "{}").await;
    assert_eq!(session.rows(CLAIM).await, ["a"]);
    session.run(&format!("select pgflow.complete_task('{id}', 'a', 0, '[1]')")).await;
    assert_eq!(session.rows(CLAIM).await.len(), 2);
    for step in ["m", "e"] {
        session.run(&format!("select pgflow.complete_task('{id}', '{step}', 0, '1')")).await;
    }
    session.run("commit").await;
    assert_eq!(db.one("select status from pgflow.runs").await, "completed");
    db.check().await;
}

#[tokio::test]
async fn it_can_fail_a_run() {
    let db = Db::with(&define("f", &["a; max_attempts => 2"])).await;
    let (mut session, id) = older(&db, "{}").await;
    for _ in 0..2 {
        session.run(CLAIM).await;
        session.run(&format!("select pgflow.fail_task('{id}', 'a', 0, 'boom')")).await;
    }
    session.run("commit").await;
    assert_eq!(db.one("select status from pgflow.runs").await, "failed");
    db.check().await;
}

#[tokio::test]
async fn it_can_skip_steps() {
    let steps = ["a; max_attempts => 1, when_exhausted => 'skip'", "b after a", "e map after a"];
    let db = Db::with(&define("f", &steps)).await;
    let (mut session, id) = older(&db, "{}").await;
    session.run(CLAIM).await;
    session.run(&format!("select pgflow.fail_task('{id}', 'a', 0, 'boom')")).await;
    session
        .run(&format!("select pgflow._cascade_force_skip_steps('{id}', 'b', 'condition_unmet')"))
        .await;
    session.run(&format!("select pgflow.maybe_complete_run('{id}'); commit")).await;
    assert_eq!(db.one("select status from pgflow.runs").await, "completed");
    db.check().await;
}

#[tokio::test]
async fn it_can_fail_a_run_by_type_or_condition() {
    let fails = r#"b after a; required_input_pattern => '{"a": 1}', when_unmet => 'fail'"#;
    let db = Db::with(&(define("f", &["a", fails]) + &define("g", &["a", "m map after a"]))).await;
    let (mut session, id) = older(&db, "{}").await;
    let other = db.start("g", "{}").await;
    session.run("select pgflow.claim_tasks(array['f', 'g'], 10)").await;
    session.run(&format!("select pgflow.complete_task('{id}', 'a', 0, '2')")).await;
    session.run(&format!("select pgflow.complete_task('{}', 'a', 0, '2'); commit", other.id)).await;
    assert_eq!(db.rows("select status from pgflow.runs").await, ["failed", "failed"]);
    db.check().await;
}

#[tokio::test]
async fn it_can_cancel_a_run() {
    let db = Db::with(&define("f", &["a"])).await;
    let (mut session, id) = older(&db, "{}").await;
    session.run(&format!("select pgflow.cancel_run('{id}', 'x'); commit")).await;
    assert_eq!(db.one("select status from pgflow.runs").await, "cancelled");
    db.check().await;
}

/// A lease counts from the claim, not from when the claimer's transaction began: another session would take
/// the task back while it is worked on.
#[tokio::test]
async fn a_lease_counts_from_the_claim() {
    let db = Db::with(&crate::harness::define("f", &["a"])).await;
    db.start("f", "{}").await;
    let mut session = db.session().await;
    session.run("begin; select pg_sleep(3)").await;
    session.run("create temp table moment as select clock_timestamp() as at").await;
    session.run("select pgflow.claim_tasks(array['f'], 1)").await;
    let late = "select started_at >= at - interval '1 second' from pgflow.step_tasks, moment";
    assert_eq!(session.one(late).await, "t");
    session.run("commit").await;
    db.check().await;
}
