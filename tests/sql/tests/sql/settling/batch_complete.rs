//! `complete_tasks`.

use uuid::Uuid;

use crate::harness::{Db, define};

/// `(run, step, index, output, attempt)`.
type Item<'a> = (Uuid, &'a str, u32, &'a str, u32);

fn complete(items: &[Item<'_>]) -> String {
    let list =
        |cell: fn(&Item<'_>) -> String| items.iter().map(cell).collect::<Vec<_>>().join(", ");
    format!(
        "select step_slug, task_index, outcome from pgflow.complete_tasks(
            run_ids => array[{}]::uuid[], step_slugs => array[{}]::text[], task_indexes => array[{}]::int[],
            outputs => array[{}]::jsonb[], attempts => array[{}]::int[])",
        list(|item| format!("'{}'", item.0)),
        list(|item| format!("'{}'", item.1)),
        list(|item| item.2.to_string()),
        list(|item| if item.3 == "NULL" { "null".into() } else { format!("'{}'", item.3) }),
        list(|item| item.4.to_string()),
    )
}

#[tokio::test]
async fn outcomes_come_one_per_item_in_the_order_given() {
    let db = Db::with(&define("f", &["m map", "z after m"])).await;
    let run = db.start("f", "[1, 2, 3]").await;
    db.claim("f").await;
    let items = [(run.id, "m", 2, "30", 1), (run.id, "m", 0, "10", 1), (run.id, "m", 1, "20", 1)];
    assert_eq!(db.rows(&complete(&items)).await, ["m|2|applied", "m|0|applied", "m|1|applied"]);
    assert_eq!(run.step("m", "status, output").await, "completed|[10, 20, 30]");
    assert_eq!(run.steps().await, ["m:completed", "z:started"]);
    assert_eq!(db.archive("f").await, ["m#0", "m#1", "m#2"]);
    db.check().await;
}

#[tokio::test]
async fn each_item_says_what_became_of_it() {
    let db = Db::with(&define("f", &["a", "b; max_attempts => 1"])).await;
    let (good, bad) = (db.start("f", "{}").await, db.start("f", "{}").await);
    let stranger = Uuid::from_u128(7);
    db.claim("f").await;
    bad.fail("b", 0, "boom").await;
    good.complete("b", 0, "1").await;
    let items = [
        (good.id, "a", 0, "1", 2),
        (good.id, "b", 0, "2", 1),
        (bad.id, "a", 0, "3", 1),
        (stranger, "a", 0, "4", 1),
        (good.id, "a", 5, "5", 1),
        (good.id, "nope", 0, "6", 1),
    ];
    let outcomes = [
        "a|0|fenced",
        "b|0|already_settled",
        "a|0|run_ended",
        "a|0|unknown",
        "a|5|unknown",
        "nope|0|unknown",
    ];
    assert_eq!(db.rows(&complete(&items)).await, outcomes);
    assert_eq!(good.tasks().await, ["a#0:started:1", "b#0:completed:1"]);
    assert_eq!(good.task("b", 0, "output").await, "1");
    assert_eq!(bad.task("a", 0, "status, output").await, "started|NULL");
    db.check().await;
}

#[tokio::test]
async fn one_task_twice_is_applied_once() {
    let db = Db::with(&define("f", &["m map"])).await;
    let run = db.start("f", "[1, 2]").await;
    db.claim("f").await;
    let rows = db.rows(&complete(&[(run.id, "m", 0, "1", 1), (run.id, "m", 0, "2", 1)])).await;
    assert_eq!(rows.iter().filter(|row| *row == "m|0|applied").count(), 1, "{rows:?}");
    assert_eq!(rows.iter().filter(|row| *row == "m|0|already_settled").count(), 1, "{rows:?}");
    assert_eq!(run.step("m", "status, remaining_tasks").await, "started|1");
    db.check().await;
}

#[tokio::test]
async fn many_runs_and_flows_in_one_call() {
    let db =
        Db::with(&(define("f", &["a", "b after a"]) + &define("g", &["x", "y map after x"]))).await;
    let (one, two, three) =
        (db.start("f", "1").await, db.start("f", "2").await, db.start("g", "3").await);
    db.claim("f").await;
    db.claim("g").await;
    let items = [(three.id, "x", 0, "[]", 1), (two.id, "a", 0, "2", 1), (one.id, "a", 0, "1", 1)];
    assert_eq!(db.rows(&complete(&items)).await, ["x|0|applied", "a|0|applied", "a|0|applied"]);
    assert_eq!(one.steps().await, ["a:completed", "b:started"]);
    assert_eq!(two.steps().await, ["a:completed", "b:started"]);
    assert_eq!(three.get("status, output").await, r#"completed|{"y": []}"#);
    db.check().await;
}

#[tokio::test]
async fn the_end_of_a_run_within_the_batch_counts() {
    let db = Db::with(&define("f", &["a", "b", "m map after a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let items = [(run.id, "a", 0, "\"no array\"", 1), (run.id, "b", 0, "1", 1)];
    let rows = db.rows(&complete(&items)).await;
    assert_eq!(rows, ["a|0|applied", "b|0|run_ended"], "a comes before b");
    assert_eq!(run.status().await, "failed");
    assert_eq!(run.tasks().await, ["a#0:failed:1", "b#0:started:1"]);
    db.check().await;
}

#[tokio::test]
async fn null_outputs_are_outputs() {
    let db = Db::with(&define("f", &["m map"])).await;
    let run = db.start("f", "[1, 2]").await;
    db.claim("f").await;
    db.run(&complete(&[(run.id, "m", 0, "NULL", 1), (run.id, "m", 1, "null", 1)])).await;
    assert_eq!(run.get("status, output").await, r#"completed|{"m": [null, null]}"#);
    assert_eq!(run.task("m", 0, "output").await, "NULL");
    db.check().await;
}

#[tokio::test]
async fn without_attempts_the_fence_is_open() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let call = format!(
        "pgflow.complete_tasks(array['{}']::uuid[], array['a'], array[0], array['1'::jsonb])",
        run.id
    );
    assert_eq!(db.rows(&format!("select outcome from {call}")).await, ["applied"]);
    assert_eq!(run.status().await, "completed");
    db.check().await;
}

#[tokio::test]
async fn empty_arrays_do_nothing_and_unequal_ones_are_refused() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    assert_eq!(db.rows(&complete(&[])).await, [""; 0]);
    let id = format!("array['{}']::uuid[]", run.id);
    for arrays in [
        format!("{id}, array['a', 'a'], array[0], array['1'::jsonb]"),
        format!("{id}, array['a'], array[0, 0], array['1'::jsonb]"),
        format!("{id}, array['a'], array[0], array['1'::jsonb, '2']"),
        format!("{id}, array['a'], array[0], array['1'::jsonb], array[1, 1]"),
        format!("{id}, array['a'], array[0], '{{}}'"),
    ] {
        let failure = db.error(&format!("select pgflow.complete_tasks({arrays})")).await;
        assert!(!failure.code.starts_with("XX"), "{failure}");
    }
    assert_eq!(run.tasks().await, ["a#0:started:1"]);
    db.check().await;
}
