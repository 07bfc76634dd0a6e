//! Calls that lock several jobs go in one pass, so that none waits for one that waits for it.

use super::{archive, claim, live, submit, submit_after};
use crate::harness::{Db, Waiting};

fn token(id: &str) -> String {
    format!("(select token::text from pgflow.jobs where id = '{id}')")
}

/// `a` waits for `m` and `z`. While `z` is finished, this is done with `m`.
async fn beside_the_end_of_z(hold_m: bool, act: &str) {
    let db = Db::new().await;
    submit(&db, "z", &["z"]).await;
    submit(&db, "m", &["m"]).await;
    submit_after(&db, "a", &["m", "z"], "release").await;
    claim(&db, &["z"], 1).await;
    if hold_m {
        claim(&db, &["m"], 1).await;
    }
    let mut holder = db.session().await;
    holder.run("begin; select from pgflow.jobs where id = 'a' for update").await;
    let finish =
        format!("select outcome from pgflow.finish_jobs(array['z'], array[{}])", token("z"));
    // First in line for `a`, and then it comes to `z`.
    let finish = Waiting::for_a_lock(&db, &finish).await;
    let act = Waiting::for_a_lock_if_any(&db, act).await;
    holder.run("rollback").await;
    assert_eq!(finish.answer().await.expect("no deadlock"), ["applied"]);
    assert_eq!(act.answer().await.expect("no deadlock"), ["applied"]);
    db.check().await;
    if live(&db).await.iter().all(|job| !job.starts_with("m:")) {
        assert_eq!(archive(&db).await[..2], ["z:done", "m:done"]);
    }
}

#[tokio::test]
async fn a_hand_over_does_not_wait_for_those_that_wait_for_it() {
    let ending =
        r#"'{"verdict": "handed_over", "need": "n", "after": [{"kind": "job", "id": "z"}]}'"#;
    let act = format!("select outcome from pgflow.settle_job('m', {}, {ending})", token("m"));
    beside_the_end_of_z(true, &act).await;
}

#[tokio::test]
async fn an_end_that_forks_locks_all_in_one_pass() {
    let ending = r#"'{"verdict": "finished", "payload": 1, "forks": [{"id": "fork", "need": "n", "after": [{"kind": "job", "id": "z"}]}]}'"#;
    let act = format!("select outcome from pgflow.settle_job('m', {}, {ending})", token("m"));
    beside_the_end_of_z(true, &act).await;
}

#[tokio::test]
async fn an_unheld_reschedule_locks_all_in_one_pass() {
    let act = "select outcome from pgflow.reschedule_unheld_jobs(array['m'], array['n'], edge_jobs => array[1], dependencies => array['z'])";
    beside_the_end_of_z(false, act).await;
    let act = "select 'applied' from pgwf.reschedule_unheld_job('m', 'ops', 'n', array['z'])";
    beside_the_end_of_z(false, act).await;
}
