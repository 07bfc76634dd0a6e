//! Statements of several sessions, released together.

use std::sync::Arc;

use tokio::sync::Barrier;

use crate::harness::{Db, Failure};

pub(super) type Answer = Result<Vec<String>, Failure>;

/// Each session runs its own list of statements; all of them send the n-th at once.
pub(super) async fn race(db: &Db, scripts: Vec<Vec<String>>) -> Vec<Vec<Answer>> {
    let barrier = Arc::new(Barrier::new(scripts.len()));
    let mut sessions = Vec::new();
    for script in scripts {
        let (mut session, barrier) = (db.session().await, Arc::clone(&barrier));
        sessions.push(tokio::spawn(async move {
            let mut answers = Vec::new();
            for statement in script {
                barrier.wait().await;
                answers.push(session.ask(&statement).await);
            }
            answers
        }));
    }
    let mut answers = Vec::new();
    for session in sessions {
        answers.push(session.await.expect("a session ended badly"));
    }
    answers
}

/// Nothing was refused.
pub(super) fn rows(answers: &[Vec<Answer>]) -> Vec<Vec<&[String]>> {
    answers.iter().map(|session| session.iter().map(expect_rows).collect()).collect()
}

fn expect_rows(answer: &Answer) -> &[String] {
    match answer {
        Ok(rows) => rows,
        Err(failure) => panic!("{failure}"),
    }
}

/// No transaction was ever the victim of a deadlock.
pub(super) async fn assert_no_deadlocks(db: &Db) {
    let count = "select deadlocks from pg_stat_database where datname = current_database()";
    assert_eq!(db.one(count).await, "0");
}
