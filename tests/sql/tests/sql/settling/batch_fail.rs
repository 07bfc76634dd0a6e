//! `fail_tasks`.

use uuid::Uuid;

use crate::harness::{Db, define, lit};

/// `(run, step, index, error, attempt)`.
type Item<'a> = (Uuid, &'a str, u32, &'a str, u32);

fn fail(items: &[Item<'_>]) -> String {
    let list =
        |cell: fn(&Item<'_>) -> String| items.iter().map(cell).collect::<Vec<_>>().join(", ");
    format!(
        "select step_slug, task_index, outcome from pgflow.fail_tasks(
            run_ids => array[{}]::uuid[], step_slugs => array[{}]::text[], task_indexes => array[{}]::int[],
            error_messages => array[{}]::text[], attempts => array[{}]::int[])",
        list(|item| format!("'{}'", item.0)),
        list(|item| lit(item.1)),
        list(|item| item.2.to_string()),
        list(|item| lit(item.3)),
        list(|item| item.4.to_string()),
    )
}

#[tokio::test]
async fn retries_and_their_errors_are_kept_apart() {
    let db = Db::with(&define("f", &["m map"])).await;
    let run = db.start("f", "[1, 2]").await;
    db.claim("f").await;
    let items = [(run.id, "m", 1, "second", 1), (run.id, "m", 0, "first", 1)];
    assert_eq!(db.rows(&fail(&items)).await, ["m|1|applied", "m|0|applied"]);
    assert_eq!(run.task("m", 0, "status, error_message, started_at").await, "queued|first|NULL");
    assert_eq!(run.task("m", 1, "status, error_message, started_at").await, "queued|second|NULL");
    assert_eq!(db.claim("f").await.len(), 2);
    db.check().await;
}

#[tokio::test]
async fn each_item_says_what_became_of_it() {
    let db = Db::with(&define("f", &["a", "b; max_attempts => 1", "c"])).await;
    let (good, bad) = (db.start("f", "{}").await, db.start("f", "{}").await);
    db.claim("f").await;
    bad.fail("b", 0, "boom").await;
    good.complete("b", 0, "1").await;
    let items = [
        (good.id, "c", 0, "e", 1),
        (good.id, "a", 0, "e", 9),
        (good.id, "b", 0, "e", 1),
        (bad.id, "a", 0, "late", 1),
        (Uuid::from_u128(1), "a", 0, "e", 1),
    ];
    let outcomes =
        ["c|0|applied", "a|0|fenced", "b|0|already_settled", "a|0|run_ended", "a|0|unknown"];
    assert_eq!(db.rows(&fail(&items)).await, outcomes);
    assert_eq!(good.tasks().await, ["a#0:started:1", "b#0:completed:1", "c#0:queued:1"]);
    assert_eq!(bad.task("a", 0, "status, error_message").await, "failed|late", "as fail_task does");
    db.check().await;
}

#[tokio::test]
async fn the_first_exhausted_task_ends_the_run_for_the_rest() {
    let db = Db::with(&define("f", &["a; max_attempts => 1", "b"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let rows = db.rows(&fail(&[(run.id, "b", 0, "two", 1), (run.id, "a", 0, "one", 1)])).await;
    assert_eq!(rows, ["b|0|run_ended", "a|0|applied"], "a comes before b, wherever it stands");
    assert_eq!(run.get("status").await, "failed");
    assert_eq!(run.event("run:failed", None).await["error_message"], "one");
    assert_eq!(
        run.task("b", 0, "status, error_message").await,
        "failed|two",
        "no retry on a failed run"
    );
    assert_eq!(db.queue("f").await, [""; 0]);
    db.check().await;
}

#[tokio::test]
async fn delays_follow_each_tasks_own_attempts() {
    let db = Db::with(&define("f", &["a; base_delay => 10", "b; base_delay => 20"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let fail = fail(&[(run.id, "a", 0, "e", 1), (run.id, "b", 0, "e", 1)]);
    assert_eq!(db.hides("f", &fail).await, ["a:20", "b:40"]);
    db.check().await;
}

#[tokio::test]
async fn a_skipped_step_closes_its_other_tasks() {
    let db = Db::with(&define(
        "f",
        &["m map; max_attempts => 1, when_exhausted => 'skip'", "z after m"],
    ))
    .await;
    let run = db.start("f", "[1, 2]").await;
    db.claim("f").await;
    let rows = db.rows(&fail(&[(run.id, "m", 0, "one", 1), (run.id, "m", 1, "two", 1)])).await;
    assert_eq!(rows, ["m|0|applied", "m|1|already_settled"]);
    assert_eq!(run.step("m", "status, error_message").await, "skipped|one");
    assert_eq!(run.events().await.iter().filter(|event| *event == "step:m:skipped").count(), 1);
    assert_eq!(run.get("remaining_steps").await, "1");
    db.check().await;
}

#[tokio::test]
async fn empty_arrays_do_nothing_and_unequal_ones_are_refused() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    assert_eq!(db.rows(&fail(&[])).await, [""; 0]);
    let id = format!("array['{}']::uuid[]", run.id);
    for arrays in
        ["array['a', 'a'], array[0], array['x']", "array['a'], array[0], array['x'], array[1, 1]"]
    {
        db.error(&format!("select pgflow.fail_tasks({id}, {arrays})")).await;
    }
    assert_eq!(run.tasks().await, ["a#0:started:1"]);
    db.check().await;
}
