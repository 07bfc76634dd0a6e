//! Both parents of a join complete at once.

use uuid::Uuid;

use super::race::{assert_no_deadlocks, race, rows};
use crate::harness::{Db, Waiting, define};

const ROUNDS: usize = 1000;

async fn diamonds(rounds: usize) -> (Db, Vec<Uuid>) {
    let db = Db::with(&define("f", &["a", "l after a", "r after a", "j after l r"])).await;
    let start =
        format!("select (pgflow.start_flow('f', '1')).run_id from generate_series(1, {rounds})");
    let runs: Vec<_> =
        db.rows(&start).await.iter().map(|id| Uuid::parse_str(id).expect("an id")).collect();
    db.claim("f").await;
    let all = "select pgflow.complete_tasks(array_agg(run_id), array_agg(step_slug), array_agg(task_index),
        array_agg('1'::jsonb)) from pgflow.step_tasks";
    db.run(all).await;
    db.claim("f").await;
    (db, runs)
}

fn complete(run: &Uuid, step: &str) -> String {
    format!("select status from pgflow.complete_task('{run}', '{step}', 0, '1', 1)")
}

async fn assert_joined_once(db: &Db, rounds: usize) {
    let joins = "select count(*), count(distinct run_id) from pgflow.events
        where step_slug = 'j' and event_type = 'step:started'";
    assert_eq!(db.one(joins).await, format!("{rounds}|{rounds}"));
    let states =
        "select count(*) from pgflow.step_states where step_slug = 'j' and status = 'started'
        and remaining_deps = 0 and remaining_tasks = 1";
    assert_eq!(db.one(states).await, rounds.to_string());
    assert_eq!(db.queue("f").await.len(), rounds);
    assert_eq!(
        db.one("select min(remaining_steps), max(remaining_steps) from pgflow.runs").await,
        "1|1"
    );
    assert_no_deadlocks(db).await;
    db.check().await;
}

#[tokio::test]
async fn the_join_starts_once_in_a_thousand_rounds() {
    let (db, runs) = diamonds(ROUNDS).await;
    let scripts = ["l", "r"].map(|step| runs.iter().map(|run| complete(run, step)).collect());
    let answers = race(&db, scripts.to_vec()).await;
    assert!(rows(&answers).iter().flatten().all(|rows| *rows == ["completed"]));
    assert_joined_once(&db, ROUNDS).await;
}

#[tokio::test]
async fn the_join_starts_once_when_batches_overlap() {
    let (db, runs) = diamonds(200).await;
    let batch = |step: &str, runs: &[Uuid]| {
        let ids = runs.iter().map(|id| format!("'{id}'")).collect::<Vec<_>>().join(", ");
        format!(
            "select outcome from pgflow.complete_tasks(array[{ids}]::uuid[], array_fill('{step}'::text, array[{n}]),
                array_fill(0, array[{n}]), array_fill('1'::jsonb, array[{n}]), array_fill(1, array[{n}]))",
            n = runs.len()
        )
    };
    let scripts = ["l", "r"].map(|step| runs.chunks(10).map(|chunk| batch(step, chunk)).collect());
    let answers = race(&db, scripts.to_vec()).await;
    assert!(
        rows(&answers).iter().flatten().all(|rows| rows.iter().all(|outcome| outcome == "applied"))
    );
    assert_joined_once(&db, 200).await;
}

#[tokio::test]
async fn the_second_parent_waits_for_the_first_to_commit() {
    for order in [["l", "r"], ["r", "l"]] {
        let (db, runs) = diamonds(1).await;
        let mut one = db.session().await;
        one.run("begin").await;
        one.run(&complete(&runs[0], order[0])).await;
        let second = Waiting::for_a_lock(&db, &complete(&runs[0], order[1])).await;
        one.run("commit").await;
        assert_eq!(second.answer().await, Ok(vec!["completed".to_owned()]));
        assert_joined_once(&db, 1).await;
    }
}
