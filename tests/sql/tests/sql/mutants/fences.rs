//! Fences inside batches.

use crate::harness::{Db, define};

/// `a` has used up its only attempt; `b` runs for the second time.
#[tokio::test]
async fn an_exhausted_neighbour_does_not_open_the_fence() {
    let steps = ["a; max_attempts => 1, when_exhausted => 'skip'", "b"];
    let db = Db::with(&define("f", &steps)).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    run.fail("b", 0, "first").await;
    db.wake("f").await;
    db.claim("f").await;
    assert_eq!(run.tasks().await, ["a#0:started:1", "b#0:started:2"]);
    let batch = format!(
        "select outcome from pgflow.fail_tasks(array['{0}', '{0}']::uuid[], array['a', 'b'],
            array[0, 0], array['over', 'late'], array[1, 1])",
        run.id
    );
    assert_eq!(db.rows(&batch).await, ["applied", "fenced"]);
    assert_eq!(run.steps().await, ["a:skipped", "b:started"]);
    assert_eq!(run.task("b", 0, "status, attempts_count, error_message").await, "started|2|first");
    db.check().await;
}

/// Which failure ends the run follows from the tasks, not from the order of the call.
#[tokio::test]
async fn the_first_task_of_a_batch_ends_the_run_wherever_it_stands() {
    let steps = ["a; max_attempts => 1", "b; max_attempts => 1"];
    let db = Db::with(&define("f", &steps)).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let batch = format!(
        "select step_slug, outcome from pgflow.fail_tasks(array['{0}', '{0}']::uuid[], array['b', 'a'],
            array[0, 0], array['of b', 'of a'], array[1, 1])",
        run.id
    );
    assert_eq!(db.rows(&batch).await, ["b|run_ended", "a|applied"]);
    assert_eq!(run.steps().await, ["a:failed", "b:started"]);
    db.check().await;
}

#[tokio::test]
async fn a_zombie_is_told_so_even_when_the_task_is_over() {
    let db = Db::with(&define("f", &["a", "b"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    run.fail("a", 0, "first").await;
    db.wake("f").await;
    run.finish("a", "1").await;
    let item = format!("array['{}']::uuid[], array['a'], array[0]", run.id);
    for (attempt, outcome) in [(1, "fenced"), (2, "already_settled")] {
        let complete =
            format!("pgflow.complete_tasks({item}, array['2'::jsonb], array[{attempt}])");
        assert_eq!(db.rows(&format!("select outcome from {complete}")).await, [outcome]);
    }
    assert_eq!(run.task("a", 0, "output").await, "1");
    db.check().await;
}
