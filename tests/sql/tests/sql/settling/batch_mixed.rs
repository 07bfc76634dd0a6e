//! `settle_and_claim`: completions, failures and a claim in one round trip.

use crate::harness::{Db, Run, define};

/// `(step, index, attempt)`.
type Key<'a> = (&'a str, u32, u32);

fn keys(run: &Run<'_>, items: &[Key<'_>], value: &str) -> String {
    let list =
        |cell: &dyn Fn(&Key<'_>) -> String| items.iter().map(cell).collect::<Vec<_>>().join(", ");
    format!(
        "array[{}]::uuid[], array[{}]::text[], array[{}]::int[], array[{}]::{}[], array[{}]::int[]",
        list(&|_| format!("'{}'", run.id)),
        list(&|item| format!("'{}'", item.0)),
        list(&|item| item.1.to_string()),
        list(&|item| format!("'\"{}{}\"'", item.0, item.1)),
        value,
        list(&|item| item.2.to_string()),
    )
}

fn settle(run: &Run<'_>, done: &[Key<'_>], failed: &[Key<'_>], rest: &str) -> String {
    format!(
        "select kind, outcome, step_slug, task_index, attempt, input, timeout from pgflow.settle_and_claim(
            {}, {}, {rest})",
        keys(run, done, "jsonb"),
        keys(run, failed, "text"),
    )
}

#[tokio::test]
async fn the_next_step_comes_back_with_the_outcomes() {
    let db = Db::with(&define("f", &["a", "b", "z after a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let call = settle(&run, &[("a", 0, 1)], &[("b", 0, 1)], "null, null, array['f'], 10");
    let rows = db.rows(&call).await;
    assert_eq!(
        rows[..2],
        ["completed|applied|a|0|NULL|NULL|NULL", "failed|applied|b|0|NULL|NULL|NULL"]
    );
    let mut claimed = rows[2..].to_vec();
    claimed.sort();
    assert_eq!(
        claimed,
        [r#"claimed|NULL|b|0|2|{"run": {}}|60"#, r#"claimed|NULL|z|0|1|{"a": "a0", "run": {}}|60"#]
    );
    db.check().await;
}

#[tokio::test]
async fn one_kind_alone_or_none_will_do() {
    let db = Db::with(&define("f", &["a", "b"])).await;
    let run = db.start("f", "{}").await;
    let none = "select kind, step_slug from pgflow.settle_and_claim(null, null, null, null, null,
        null, null, null, null, null, null, null, array['f'], 10) order by 2";
    assert_eq!(db.rows(none).await, ["claimed|a", "claimed|b"]);
    let done = settle(&run, &[("a", 0, 1)], &[], "null, null, null, 0");
    assert_eq!(db.rows(&done).await, ["completed|applied|a|0|NULL|NULL|NULL"]);
    let failed = settle(&run, &[], &[("b", 0, 1)], "array[60], array[false], array['f'], 5");
    assert_eq!(
        db.rows(&failed).await,
        ["failed|applied|b|0|NULL|NULL|NULL"],
        "delayed, not claimed"
    );
    db.check().await;
}

#[tokio::test]
async fn outcomes_come_in_the_order_given() {
    let db = Db::with(&define("f", &["m map"])).await;
    let run = db.start("f", "[1, 2, 3, 4]").await;
    db.claim("f").await;
    let done = [("m", 3, 1), ("m", 0, 7), ("x", 0, 1)];
    let failed = [("m", 2, 1), ("m", 3, 1), ("m", 1, 9)];
    let rows = db.rows(&settle(&run, &done, &failed, "null, null, null, null")).await;
    let short: Vec<_> = rows.iter().map(|row| row.trim_end_matches("|NULL|NULL|NULL")).collect();
    assert_eq!(
        short,
        [
            "completed|applied|m|3",
            "completed|fenced|m|0",
            "completed|unknown|x|0",
            "failed|applied|m|2",
            "failed|already_settled|m|3",
            "failed|fenced|m|1"
        ]
    );
    db.check().await;
}

#[tokio::test]
async fn a_fatal_failure_ends_what_the_completion_began() {
    let db = Db::with(&define("f", &["a", "b", "z after a"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let rest = "null, array[true], array['f'], 10";
    let rows = db.rows(&settle(&run, &[("a", 0, 1)], &[("b", 0, 1)], rest)).await;
    let kinds: Vec<_> = rows.iter().filter_map(|row| row.split('|').next()).collect();
    assert_eq!(kinds, ["completed", "failed", "ended"], "nothing of a failed run can be claimed");
    assert_eq!(run.steps().await, ["a:completed", "b:failed", "z:started"]);
    assert_eq!(db.queue("f").await, [""; 0]);
    db.check().await;
}

#[tokio::test]
async fn an_output_of_the_wrong_type_breaks_its_run_only() {
    let db = Db::with(&define("f", &["a", "b", "m map after a"])).await;
    let (bad, good) = (db.start("f", "{}").await, db.start("f", "{}").await);
    db.claim("f").await;
    let call = format!(
        "select kind, outcome from pgflow.settle_and_claim(
            array['{0}', '{1}', '{0}']::uuid[], array['a', 'a', 'b'], array[0, 0, 0],
            array['1', '[1]', '2']::jsonb[], array[1, 1, 1],
            array['{1}']::uuid[], array['b'], array[0], array['x'], array[1], null, null, null, 0)",
        bad.id, good.id
    );
    assert_eq!(
        db.rows(&call).await,
        [
            "completed|applied",
            "completed|applied",
            "completed|run_ended",
            "failed|applied",
            "ended|failed"
        ]
    );
    assert_eq!((bad.status().await, good.status().await), ("failed".into(), "started".into()));
    assert_eq!(db.queue("f").await, ["b#0", "m#0"]);
    db.check().await;
}

#[tokio::test]
async fn nothing_is_settled_when_a_part_is_refused() {
    let db = Db::with(&define("f", &["a", "b"])).await;
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    for rest in ["array[-1], null, null, 0", "array[1, 2], null, null, 0"] {
        db.error(&settle(&run, &[("a", 0, 1)], &[("b", 0, 1)], rest)).await;
    }
    assert_eq!(run.tasks().await, ["a#0:started:1", "b#0:started:1"]);
    db.check().await;
}

#[tokio::test]
async fn quotas_hold_here_too() {
    let db = Db::with(&define("f", &["a", "m map"])).await;
    let run = db.start("f", "[1, 2, 3]").await;
    db.claim_up_to("f", 1).await;
    let rest = "null, null, array['f'], 10, null, array['f'], array['m'], array[1]";
    let rows = db.rows(&settle(&run, &[("a", 0, 1)], &[], rest)).await;
    let claimed = rows.iter().filter(|row| row.starts_with("claimed|NULL|m")).count();
    assert_eq!(claimed, 1, "{rows:?}");
    db.check().await;
}
