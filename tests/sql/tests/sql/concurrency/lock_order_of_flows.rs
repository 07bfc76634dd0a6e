//! Flows that are replaced while others start runs of them or define them too.

use crate::harness::{Db, Waiting, define};

/// Creators and deleters meet at one lock, before either holds the flow.
#[tokio::test]
async fn a_flow_is_created_again_while_it_is_replaced() {
    let db = Db::with(&define("f", &["a"])).await;
    let mut one = db.session().await;
    one.run("begin; select pgflow.delete_flow_and_data('f')").await;
    let creator = Waiting::for_a_lock(&db, "select flow_slug from pgflow.create_flow('f')").await;
    one.run(&define("f", &["b"])).await;
    one.run("commit").await;
    assert_eq!(creator.answer().await, Ok(vec!["f".to_owned()]));
    assert_eq!(db.rows("select step_slug from pgflow.steps").await, ["b"]);
    db.check().await;
}

/// Not half of the old flow on half of the new one.
#[tokio::test]
async fn a_run_that_is_started_while_its_flow_is_replaced_is_one_of_the_new_flow() {
    let db = Db::with(&define("f", &["a", "m map"])).await;
    let mut one = db.session().await;
    one.run("begin; select pgflow.delete_flow_and_data('f')").await;
    one.run(&define("f", &["b", "n map"])).await;
    let start = Waiting::for_a_lock(&db, "select status from pgflow.start_flow('f', '[1]')").await;
    one.run("commit").await;
    assert_eq!(start.answer().await, Ok(vec!["started".to_owned()]));
    assert_eq!(db.rows("select step_slug from pgflow.step_states order by 1").await, ["b", "n"]);
    assert_eq!(db.queue("f").await, ["b#0", "n#0"]);
    db.check().await;
}

/// The flow before its steps.
#[tokio::test]
async fn options_of_a_step_wait_for_the_flow() {
    let db = Db::with(&define("f", &["a"])).await;
    let mut one = db.session().await;
    one.run("begin; select from pgflow.flows for no key update").await;
    let options = "select opt_timeout from pgflow.set_step_options('f', 'a', timeout => 7)";
    let waiting = Waiting::for_a_lock(&db, options).await;
    db.run("select from pgflow.steps for update nowait").await;
    one.run("update pgflow.steps set opt_timeout = 5; commit").await;
    assert_eq!(waiting.answer().await, Ok(vec!["7".to_owned()]));
}

/// All tables at once or none: who waits for the archive must not hold the queue.
#[tokio::test]
async fn a_deletion_holds_no_queue_while_somebody_reads_its_archive() {
    let db = Db::with(&define("f", &["a"])).await;
    let (mut reader, mut worker) = (db.session().await, db.session().await);
    reader.run("begin; select from pgmq.a_f").await;
    let deletion = Waiting::for_another_try(&db, "select pgflow.delete_flow_and_data('f')").await;
    worker.run("set lock_timeout = '2s'; select from pgmq.q_f").await;
    reader.run("commit").await;
    assert!(deletion.answer().await.is_ok());
    db.check().await;
}
