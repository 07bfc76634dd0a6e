//! `maybe_complete_run` and `_archive_task_message`.

use crate::harness::{Db, define};

#[tokio::test]
async fn a_run_with_steps_left_goes_on() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.run(&format!("select pgflow.maybe_complete_run(run_id => '{}')", run.id)).await;
    assert_eq!(run.status().await, "started");
    assert_eq!(run.events().await.len(), 2);
    db.check().await;
}

#[tokio::test]
async fn a_completed_run_is_not_completed_again() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "1").await;
    let before = (run.get("to_jsonb(runs)").await, run.events().await);
    db.run(&format!("select pgflow.maybe_complete_run('{}')", run.id)).await;
    assert_eq!((run.get("to_jsonb(runs)").await, run.events().await), before);
    db.check().await;
}

#[tokio::test]
async fn an_unknown_run_is_no_error() {
    let db = Db::new().await;
    db.run("select pgflow.maybe_complete_run('00000000-0000-0000-0000-000000000009')").await;
}

#[tokio::test]
async fn one_message_is_archived_by_its_task() {
    let db = Db::with(&define("f", &["m map"])).await;
    let run = db.start("f", "[1, 2]").await;
    let call =
        |index: u32| format!("select pgflow._archive_task_message('{}', 'm', {index})", run.id);
    db.run(&call(1)).await;
    assert_eq!(
        (db.queue("f").await, db.archive("f").await),
        (vec!["m#0".into()], vec!["m#1".into()])
    );
    db.run(&call(1)).await;
    db.run(&call(7)).await;
    assert_eq!(db.archive("f").await, ["m#1"]);
    let named = "select pgflow._archive_task_message(p_run_id => null, p_step_slug => 'm', p_task_index => 0)";
    db.run(named).await;
    assert_eq!(db.queue("f").await, ["m#0"]);
}
