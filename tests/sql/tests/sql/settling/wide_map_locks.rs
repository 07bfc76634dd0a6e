//! Tasks of a wide map settle without the run's row.

use crate::harness::{Db, define};

#[tokio::test]
async fn a_map_task_completes_while_the_run_is_locked() {
    let db = Db::with(&define("f", &["m map"])).await;
    let run = db.start("f", "[1, 2, 3]").await;
    db.claim("f").await;
    let mut holder = db.session().await;
    holder
        .run(&format!(
            "begin; select from pgflow.runs where run_id = '{}' for no key update",
            run.id
        ))
        .await;
    let mut worker = db.session().await;
    worker.run("set lock_timeout = '2s'").await;
    let complete = |index: u32| {
        format!("select status from pgflow.complete_task('{}', 'm', {index}, '1')", run.id)
    };
    assert_eq!(worker.rows(&complete(0)).await, ["completed"]);
    let batch = format!(
        "select outcome from pgflow.complete_tasks(array['{}']::uuid[], array['m'], array[1], array['2'::jsonb], array[1])",
        run.id
    );
    assert_eq!(worker.rows(&batch).await, ["applied"]);
    let last = worker.error(&complete(2)).await;
    assert_eq!(last.code, "55P03", "the last task needs the run: {last}");
    holder.run("commit").await;
    worker.run(&complete(2)).await;
    assert_eq!(run.status().await, "completed");
    db.check().await;
}

#[tokio::test]
async fn tasks_are_claimed_while_the_run_is_locked() {
    let db = Db::with(&define("f", &["m map"])).await;
    let run = db.start("f", "[1, 2, 3]").await;
    let mut holder = db.session().await;
    holder
        .run(&format!(
            "begin; select from pgflow.runs where run_id = '{}' for no key update",
            run.id
        ))
        .await;
    let mut worker = db.session().await;
    worker.run("set lock_timeout = '2s'").await;
    let claimed =
        worker.rows("select task_index from pgflow.claim_tasks(array['f'], 3) order by 1").await;
    assert_eq!(claimed, ["0", "1", "2"]);
    holder.run("commit").await;
    db.check().await;
}
