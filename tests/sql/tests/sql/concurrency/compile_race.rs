//! Many workers compile one flow, from two shapes.

use serde_json::{Value, json};

use super::race::{race, rows};
use crate::harness::{Db, lit};

fn shape(slugs: &[&str]) -> String {
    let step = |slug: &&str| {
        json!({"slug": slug, "stepType": "single", "dependencies": [], "whenUnmet": "skip",
               "whenExhausted": "fail", "requiredInputPattern": {"defined": false},
               "forbiddenInputPattern": {"defined": false}})
    };
    json!({"steps": slugs.iter().map(step).collect::<Vec<_>>()}).to_string()
}

fn ensure(flow: usize, slugs: &[&str], loss: bool) -> String {
    format!("select pgflow.ensure_flow_compiled('f{flow}', {}, {loss})", lit(&shape(slugs)))
}

const ROUNDS: usize = 10;
const SHAPES: [&[&str]; 2] = [&["a", "b", "c", "d"], &["d", "c", "b", "a"]];

async fn compile(db: &Db, workers: usize, loss: bool) -> Vec<Vec<(usize, Value)>> {
    let script =
        |worker: usize| (0..ROUNDS).map(|flow| ensure(flow, SHAPES[worker % 2], loss)).collect();
    let answers = race(db, (0..workers).map(script).collect()).await;
    let rows = rows(&answers);
    let answer = |worker: usize, round: usize| {
        (worker % 2, serde_json::from_str(&rows[worker][round][0]).expect("JSON"))
    };
    (0..ROUNDS).map(|round| (0..workers).map(|worker| answer(worker, round)).collect()).collect()
}

async fn stored(db: &Db, flow: usize) -> Vec<String> {
    db.rows(&format!(
        "select step_slug from pgflow.steps where flow_slug = 'f{flow}' order by step_index"
    ))
    .await
}

#[tokio::test]
async fn one_shape_wins_and_the_other_is_told_how_it_differs() {
    let db = Db::new().await;
    for (flow, answers) in compile(&db, 8, false).await.into_iter().enumerate() {
        let winners: Vec<_> =
            answers.iter().filter(|(_, answer)| answer["status"] == "compiled").collect();
        assert_eq!(winners.len(), 1, "{answers:?}");
        let winner = winners[0].0;
        for (shape, answer) in &answers {
            let expected: &[&str] =
                if *shape == winner { &["compiled", "verified"] } else { &["mismatch"] };
            assert!(expected.contains(&answer["status"].as_str().expect("text")), "{answer}");
            assert_eq!(*shape == winner, answer["differences"] == json!([]), "{answer}");
        }
        assert_eq!(stored(&db, flow).await, SHAPES[winner], "no half of a definition");
    }
    db.check().await;
}

#[tokio::test]
async fn with_data_loss_the_last_one_wins_as_a_whole() {
    let db = Db::new().await;
    for (flow, answers) in compile(&db, 4, true).await.into_iter().enumerate() {
        let compiled = answers.iter().filter(|(_, answer)| answer["status"] == "compiled").count();
        assert_eq!(compiled, 1, "{answers:?}");
        let stored = stored(&db, flow).await;
        assert!(SHAPES.iter().any(|shape| stored == *shape), "{stored:?}");
    }
    db.check().await;
}

#[tokio::test]
async fn the_same_flow_is_created_by_all_at_once() {
    let db = Db::new().await;
    let script: Vec<_> =
        (0..ROUNDS).map(|flow| format!("select pgflow.create_flow('f{flow}')")).collect();
    rows(&race(&db, vec![script; 6]).await);
    assert_eq!(db.one("select count(*) from pgflow.flows").await, ROUNDS.to_string());
    assert_eq!(db.one("select count(*) from pgmq.list_queues()").await, ROUNDS.to_string());
    db.check().await;
}

#[tokio::test]
async fn steps_added_by_all_at_once_are_numbered_one_by_one() {
    let db = Db::with("select pgflow.create_flow('f')").await;
    let script = |worker: usize| {
        let add = |round: usize| format!("select pgflow.add_step('f', 's{worker}_{round}')");
        (0..ROUNDS).map(add).collect()
    };
    rows(&race(&db, (0..4).map(script).collect()).await);
    let numbers = "select count(*), min(step_index), max(step_index), count(distinct step_index) from pgflow.steps";
    let count = 4 * ROUNDS;
    assert_eq!(db.one(numbers).await, format!("{count}|0|{}|{count}", count - 1));
    db.check().await;
}
