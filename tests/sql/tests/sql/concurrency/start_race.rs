//! One run id, many starters.

use super::race::{race, rows};
use crate::harness::{Db, define};

#[tokio::test]
async fn one_start_wins_and_the_others_are_told() {
    const STARTERS: usize = 8;
    const ROUNDS: usize = 20;
    let db = Db::with(&define("f", &["a", "m map"])).await;
    let start = |round: usize| {
        format!(
            "select run_id from pgflow.start_flow('f', '[1, 2]', '00000000-0000-4000-8000-{round:012}')"
        )
    };
    let script: Vec<_> = (0..ROUNDS).map(start).collect();
    let answers = race(&db, vec![script; STARTERS]).await;
    for round in 0..ROUNDS {
        let answers: Vec<_> = answers.iter().map(|session| &session[round]).collect();
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
        for failure in answers.iter().filter_map(|answer| answer.as_ref().err()) {
            assert_eq!(
                (failure.code.as_str(), failure.constraint.as_deref()),
                ("23505", Some("runs_pkey"))
            );
        }
    }
    let rows =
        "select (select count(*) from pgflow.runs), (select count(*) from pgflow.step_states),
        (select count(*) from pgflow.step_tasks), (select count(*) from pgmq.q_f)";
    assert_eq!(
        db.one(rows).await,
        format!("{ROUNDS}|{}|{}|{}", ROUNDS * 2, ROUNDS * 3, ROUNDS * 3)
    );
    db.check().await;
}

#[tokio::test]
async fn whoever_comes_second_gets_the_same_run() {
    const STARTERS: usize = 8;
    const ROUNDS: usize = 20;
    let db = Db::with(&define("f", &["a"])).await;
    let start = |round: usize| {
        let id = format!("'00000000-0000-4000-8000-{round:012}'");
        format!("select created from pgflow.start_run('f', '1', {id})")
    };
    let script: Vec<_> = (0..ROUNDS).map(start).collect();
    let answers = race(&db, vec![script; STARTERS]).await;
    let answers = rows(&answers);
    for round in 0..ROUNDS {
        let created = answers.iter().filter(|session| session[round] == ["t".to_owned()]).count();
        assert_eq!(created, 1);
    }
    assert_eq!(db.one("select count(*) from pgflow.step_tasks").await, ROUNDS.to_string());
    db.check().await;
}
