//! One message, two callers: one of them gets the task.

use super::race::{race, rows};
use crate::harness::{Db, Waiting, define};

const ROUNDS: usize = 200;

/// Both sessions send the same statement for each message.
async fn taken_once(db: &Db, statement: impl Fn(usize) -> String) {
    let script: Vec<_> = (1..=ROUNDS).map(statement).collect();
    let answers = race(db, vec![script.clone(), script]).await;
    let rows = rows(&answers);
    for (round, (one, two)) in rows[0].iter().zip(&rows[1]).enumerate() {
        assert_eq!(one.len() + two.len(), 1, "round {round}");
    }
    assert_eq!(
        db.one("select max(attempts_count), min(attempts_count) from pgflow.step_tasks").await,
        "1|1"
    );
    db.check().await;
}

#[tokio::test]
async fn two_starts_of_one_message() {
    let db = Db::with(&define("f", &["m map"])).await;
    db.start("f", &format!("[{}]", vec!["0"; ROUNDS].join(", "))).await;
    taken_once(&db, |id| {
        format!("select task_index from pgflow.start_tasks('f', array[{id}]::bigint[], null)")
    })
    .await;
}

#[tokio::test]
async fn two_claims_for_one_message() {
    let db = Db::with(&define("f", &["m map"])).await;
    db.start("f", &format!("[{}]", vec!["0"; ROUNDS].join(", "))).await;
    db.run("update pgmq.q_f set vt = clock_timestamp() + interval '1 hour'").await;
    // Each round makes one message visible, in the same transaction in which one of them claims.
    taken_once(&db, |id| {
        format!(
            "update pgmq.q_f set vt = clock_timestamp() where msg_id = {id} and read_ct = 0;
             select task_index from pgflow.claim_tasks(array['f'], 1)"
        )
    })
    .await;
}

#[tokio::test]
async fn a_start_that_is_not_committed_yet_counts() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "{}").await;
    let mut one = db.session().await;
    let start = "select step_slug from pgflow.start_tasks('f', array[1]::bigint[], null)";
    one.run("begin").await;
    assert_eq!(one.rows(start).await, ["a"]);
    let second = Waiting::for_a_lock(&db, start).await;
    one.run("commit").await;
    assert_eq!(second.answer().await, Ok(vec![]));
    assert_eq!(run.task("a", 0, "attempts_count").await, "1");
    db.check().await;
}
