//! The last two elements of a map complete at once.

use super::race::{assert_no_deadlocks, race, rows};
use crate::harness::{Db, Waiting, define};

const ROUNDS: usize = 200;

#[tokio::test]
async fn the_map_completes_once() {
    let db = Db::with(&define("f", &["m map", "z after m"])).await;
    let start = format!(
        "select (pgflow.start_flow('f', '[1, 2]')).run_id from generate_series(1, {ROUNDS})"
    );
    let runs = db.rows(&start).await;
    db.claim("f").await;
    let scripts = [0, 1].map(|index| {
        let complete = |run: &String| {
            format!("select status from pgflow.complete_task('{run}', 'm', {index}, '{index}', 1)")
        };
        runs.iter().map(complete).collect()
    });
    let answers = race(&db, scripts.to_vec()).await;
    assert!(rows(&answers).iter().flatten().all(|rows| *rows == ["completed"]));
    let done =
        "select count(*) from pgflow.step_states where step_slug = 'm' and status = 'completed'
        and output = '[0, 1]' and remaining_tasks = 0";
    assert_eq!(db.one(done).await, ROUNDS.to_string());
    let told = "select count(*), count(distinct run_id) from pgflow.events
        where step_slug = 'm' and event_type = 'step:completed'";
    assert_eq!(db.one(told).await, format!("{ROUNDS}|{ROUNDS}"));
    assert_no_deadlocks(&db).await;
    db.check().await;
}

#[tokio::test]
async fn an_element_that_is_not_committed_counts_when_it_is() {
    for end in ["commit", "rollback"] {
        let db = Db::with(&define("f", &["m map", "z after m"])).await;
        let run = db.start("f", "[1, 2]").await;
        db.claim("f").await;
        let complete = |index: u32| {
            format!("select status from pgflow.complete_task('{}', 'm', {index}, '1', 1)", run.id)
        };
        let mut one = db.session().await;
        one.run("begin").await;
        one.run(&complete(0)).await;
        let second = Waiting::for_a_lock(&db, &complete(1)).await;
        one.run(end).await;
        assert_eq!(second.answer().await, Ok(vec!["completed".to_owned()]));
        let expected = if end == "commit" { "completed|0" } else { "started|1" };
        assert_eq!(run.step("m", "status, remaining_tasks").await, expected);
        db.check().await;
    }
}
