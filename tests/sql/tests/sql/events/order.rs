//! Dense, in order, each once.

use crate::harness::{Db, define};

#[tokio::test]
async fn a_whole_run_from_first_to_last() {
    let db = Db::with(&define("f", &["a", "e map after a", "m map after a", "z after m e"])).await;
    let run = db.start("f", "{}").await;
    run.finish("a", "[1]").await;
    db.claim("f").await;
    run.complete("e", 0, "1").await;
    run.complete("m", 0, "1").await;
    run.finish("z", "1").await;
    let expected = [
        "run:started",
        "step:a:started",
        "step:a:completed",
        "step:e:started",
        "step:m:started",
        "step:e:completed",
        "step:m:completed",
        "step:z:started",
        "step:z:completed",
        "run:completed",
    ];
    assert_eq!(run.events().await, expected);
    db.check().await;
}

#[tokio::test]
async fn numbers_are_dense_from_one_in_every_run() {
    let db = Db::with(&define("f", &["a", "b after a"])).await;
    let runs = [db.start("f", "1").await, db.start("f", "2").await];
    for run in &runs {
        run.finish("a", "1").await;
    }
    for run in runs.iter().rev() {
        run.finish("b", "1").await;
        let seqs =
            format!("select seq from pgflow.events where run_id = '{}' order by at, seq", run.id);
        assert_eq!(db.rows(&seqs).await, ["1", "2", "3", "4", "5", "6"]);
    }
    db.check().await;
}

#[tokio::test]
async fn the_type_and_the_step_are_columns_as_well() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "1").await;
    run.finish("a", "1").await;
    let rows = "select event_type, step_slug, payload->>'event_type' = event_type,
        payload->>'step_slug' is not distinct from step_slug, at is not null from pgflow.events order by seq";
    let expected = [
        "run:started|NULL|t|t|t",
        "step:started|a|t|t|t",
        "step:completed|a|t|t|t",
        "run:completed|NULL|t|t|t",
    ];
    assert_eq!(db.rows(rows).await, expected);
    db.check().await;
}

#[tokio::test]
async fn an_empty_map_has_no_start() {
    let db = Db::with(&define("f", &["m map", "z after m"])).await;
    let run = db.start("f", "[]").await;
    assert_eq!(run.events().await, ["run:started", "step:m:completed", "step:z:started"]);
    db.check().await;
}

#[tokio::test]
async fn tasks_retries_and_heartbeats_are_silent() {
    let db = Db::with(&define("f", &["m map"])).await;
    let run = db.start("f", "[1, 2]").await;
    db.claim("f").await;
    run.complete("m", 0, "1").await;
    run.fail("m", 1, "boom").await;
    db.claim("f").await;
    let arrays = format!("array['{}']::uuid[], array['m'], array[1], array[2]", run.id);
    db.run(&format!("select pgflow.heartbeat({arrays})")).await;
    assert_eq!(run.events().await, ["run:started", "step:m:started"]);
    db.check().await;
}
