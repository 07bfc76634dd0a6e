//! Definitions that come, come again or go while others work.

use crate::harness::{Db, Waiting, define};

#[tokio::test]
async fn creating_a_flow_again_waits_for_nobody() {
    let db = Db::with(&define("f", &["a"])).await;
    let (mut one, mut two) = (db.session().await, db.session().await);
    one.run("begin; select pgflow.start_flow('f', '1')").await;
    two.run("set lock_timeout = '2s'").await;
    two.run("select pgflow.create_flow('f'); select pgflow.add_step('f', 'a')").await;
    one.run("commit").await;
    db.check().await;
}

#[tokio::test]
async fn deleting_a_flow_waits_for_a_run_that_is_being_started() {
    let db = Db::with(&define("f", &["m map"])).await;
    let mut one = db.session().await;
    one.run("begin; select pgflow.start_flow('f', '[]')").await;
    let delete = "select pgflow.delete_flow_and_data('f')";
    let deletion = Waiting::for_a_lock(&db, delete).await;
    one.run("commit").await;
    assert!(deletion.answer().await.is_ok());
    assert_eq!(db.one("select count(*) from pgflow.runs").await, "0");
    assert_eq!(db.one("select count(*) from pgflow.event_log").await, "0");
    db.check().await;
}

/// Sessions that start, claim and settle while another replaces the flow again and again.
#[tokio::test]
async fn replacing_a_flow_under_load_deadlocks_with_nobody() {
    let db = Db::with(&define("f", &["a", "m map after a"])).await;
    let work = "select pgflow.start_flow('f', '1');
        select pgflow.complete_tasks(array_agg(run_id), array_agg(step_slug), array_agg(task_index),
            array_agg('[1, 2]'::jsonb), array_agg(attempt)) from (
              select * from pgflow.step_tasks t cross join lateral (select t.attempts_count as attempt) a
               where t.status = 'started') t having count(*) > 0;
        select pgflow.claim_tasks('{f}', 5)";
    let mut workers = Vec::new();
    for _ in 0..3 {
        let mut session = db.session().await;
        workers.push(tokio::spawn(async move {
            let mut deadlocks = 0;
            for _ in 0..60 {
                for statement in work.split(';') {
                    // The flow may be gone for a moment; a cycle of locks may not be.
                    let answer = session.ask(statement).await;
                    deadlocks += u32::from(answer.is_err_and(|failure| failure.code == "40P01"));
                }
            }
            deadlocks
        }));
    }
    let mut session = db.session().await;
    for round in 0..12 {
        let slug = ["b", "c"][round % 2];
        let shape = format!(
            r#"{{"steps": [{{"slug": "{slug}", "stepType": "single", "dependencies": [],
                "requiredInputPattern": {{"defined": false}}, "forbiddenInputPattern": {{"defined": false}}}}]}}"#
        );
        session.run(&format!("select pgflow.ensure_flow_compiled('f', '{shape}', true)")).await;
    }
    for worker in workers {
        assert_eq!(worker.await.expect("no panic"), 0, "deadlocks");
    }
    db.check().await;
}
