//! Results of a map that goes on without them: nothing but its counter moves.

use crate::harness::{Db, Run, define};

/// A map whose six tasks run.
async fn running(db: &Db) -> Run<'_> {
    db.run(&define("f", &["m map", "z after m"])).await;
    let run = db.start("f", "[1, 2, 3, 4, 5, 6]").await;
    assert_eq!(db.claim("f").await.len(), 6);
    run
}

/// Tasks by index, each with the attempt that its result is of.
fn complete(run: &Run<'_>, tasks: &[(u32, u32)]) -> String {
    let list =
        |cell: fn(&(u32, u32)) -> String| tasks.iter().map(cell).collect::<Vec<_>>().join(", ");
    format!(
        "select task_index, outcome from pgflow.complete_tasks(
            array_fill('{}'::uuid, array[{count}]), array_fill('m'::text, array[{count}]), array[{}],
            array[{}]::jsonb[], array[{}])",
        run.id,
        list(|(index, _)| index.to_string()),
        list(|(index, _)| format!("'{}'", index * 10)),
        list(|(_, attempt)| attempt.to_string()),
        count = tasks.len(),
    )
}

#[tokio::test]
async fn they_are_stored_and_counted() {
    let db = Db::new().await;
    let run = running(&db).await;
    let outcomes = db.rows(&complete(&run, &[(3, 1), (1, 1)])).await;
    assert_eq!(outcomes, ["3|applied", "1|applied"]);
    assert_eq!(run.step("m", "status, remaining_tasks, output").await, "started|4|NULL");
    assert_eq!(run.task("m", 3, "status, output, input").await, "completed|30|NULL");
    assert_eq!(db.archive("f").await, ["m#1", "m#3"]);
    db.check().await;
}

#[tokio::test]
async fn the_last_ones_end_the_step() {
    let db = Db::new().await;
    let run = running(&db).await;
    db.rows(&complete(&run, &[(4, 1), (0, 1)])).await;
    db.rows(&complete(&run, &[(1, 1), (2, 1), (3, 1), (5, 1)])).await;
    assert_eq!(run.step("m", "status, output").await, "completed|[0, 10, 20, 30, 40, 50]");
    assert_eq!(run.steps().await, ["m:completed", "z:started"]);
    db.check().await;
}

#[tokio::test]
async fn what_does_not_apply_is_not_counted() {
    let db = Db::new().await;
    let run = running(&db).await;
    db.rows(&complete(&run, &[(1, 1)])).await;
    let outcomes = db.rows(&complete(&run, &[(3, 2), (2, 1), (1, 1), (2, 1)])).await;
    assert_eq!(outcomes, ["3|fenced", "2|applied", "1|already_settled", "2|already_settled"]);
    assert_eq!(run.step("m", "remaining_tasks").await, "4");
    assert_eq!(run.task("m", 3, "status, output").await, "started|NULL");
    assert_eq!(db.archive("f").await, ["m#1", "m#2"]);
    db.check().await;
}

#[tokio::test]
async fn a_zombies_result_changes_nothing() {
    let db = Db::new().await;
    let run = running(&db).await;
    run.stall("m", 2).await;
    assert_eq!(db.one("select pgflow.requeue_stalled_tasks()").await, "1");
    assert_eq!(db.claim("f").await[0].attempt, 2);
    let before = run.task("m", 2, "to_jsonb(step_tasks)").await;
    assert_eq!(db.rows(&complete(&run, &[(2, 1)])).await, ["2|fenced"]);
    assert_eq!(run.task("m", 2, "to_jsonb(step_tasks)").await, before);
    assert_eq!(run.step("m", "remaining_tasks").await, "6");
    assert_eq!(db.rows(&complete(&run, &[(2, 2)])).await, ["2|applied"]);
    db.check().await;
}

#[tokio::test]
async fn a_run_that_has_ended_takes_nothing_in() {
    let db = Db::new().await;
    let run = running(&db).await;
    db.run(&format!("select pgflow.cancel_run('{}')", run.id)).await;
    assert_eq!(db.rows(&complete(&run, &[(1, 1), (2, 1)])).await, ["1|run_ended", "2|run_ended"]);
    assert_eq!(run.step("m", "remaining_tasks").await, "6");
    assert_eq!(run.task("m", 1, "status, output").await, "started|NULL");
    db.check().await;
}
