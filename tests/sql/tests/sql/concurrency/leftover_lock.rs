//! An update that waited for a task and then found it changed keeps the row's lock.

use crate::harness::{Db, Waiting, define};

#[tokio::test]
async fn a_claim_waits_for_no_task() {
    let db = Db::with(&define("f", &["m map"])).await;
    let run = db.start("f", "[1, 2]").await;
    db.claim("f").await;
    let mut failer = db.session().await;
    failer.run(&format!("begin; select pgflow.fail_task('{}', 'm', 0, 'boom', 1)", run.id)).await;
    let mut holder = db.session().await;
    holder.run("begin; select from pgflow.step_tasks where task_index = 1 for update").await;
    // Waits for the failing task, which is queued when it gets the lock, then for the held one.
    let tasks =
        format!("array['{0}', '{0}']::uuid[], array['m', 'm'], array[0, 1], array[1, 1]", run.id);
    let beat = format!("select outcome from pgflow.heartbeat({tasks})");
    let beating = Waiting::for_a_lock(&db, &beat).await;
    failer.run("commit").await;
    beating.comes_to(&db, &mut holder).await;
    let mut claimer = db.session().await;
    claimer.run("set lock_timeout = '2s'").await;
    claimer.run("select pgflow.claim_tasks(array['f'], 10)").await;
    holder.run("commit").await;
    assert_eq!(beating.answer().await, Ok(vec!["lost".to_owned(), "extended".to_owned()]));
    db.wake("f").await;
    db.claim("f").await;
    assert_eq!(run.tasks().await, ["m#0:started:2", "m#1:started:1"], "the task is not forgotten");
    db.check().await;
}
