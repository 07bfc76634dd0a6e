//! What is remembered of a job.

use super::{claim, finish, lapse, settle, submit};
use crate::harness::Db;

#[tokio::test]
async fn every_mutation_leaves_a_row() {
    let db = Db::new().await;
    submit(&db, "n", &["x"]).await;
    claim(&db, &["n"], 1).await;
    settle(&db, "release_jobs", "x", ", 'a'").await;
    claim(&db, &["n"], 1).await;
    settle(&db, "fail_jobs", "x", ", array['boom'], worker => 'b'").await;
    claim(&db, &["n"], 1).await;
    settle(&db, "reschedule_jobs", "x", ", array['m'], worker => 'c'").await;
    claim(&db, &["m"], 1).await;
    lapse(&db, &["x"]).await;
    db.run("select pgflow.claim_jobs('w2', array['m'], 60, 1)").await;
    finish(&db, "x").await;
    let trace = "select kind, need, worker, token is not null from pgflow.read_job_trace('x')";
    assert_eq!(
        db.rows(trace).await,
        [
            "submitted|n|NULL|f",
            "claimed|n|w|t",
            "released|n|a|t",
            "claimed|n|w|t",
            "failed|n|b|t",
            "claimed|n|w|t",
            "handed_over|m|c|t",
            "claimed|m|w|t",
            "lapsed|m|w2|t",
            "claimed|m|w2|t",
            "finished|m|NULL|t",
        ]
    );
    let part = "select kind from pgflow.read_job_trace('x', (select min(trace_id) + 1 from pgflow.job_trace), 2)";
    assert_eq!(db.rows(part).await, ["released", "claimed"]);
    let end = |most: u32| format!("select kind from pgflow.read_job_trace_end('x', {most})");
    assert_eq!(db.rows(&end(3)).await, ["lapsed", "claimed", "finished"]);
    assert_eq!(db.rows(&end(10)).await[0], "claimed", "its submission is one more");
    for most in [11, 12] {
        let all = db.rows(&end(most)).await;
        assert_eq!((all.len(), &*all[0]), (11, "submitted"));
    }
    db.check().await;
}

#[tokio::test]
async fn it_can_be_switched_off() {
    let db = Db::new().await;
    db.run("select pgflow.set_job_settings(trace => false)").await;
    submit(&db, "n", &["x"]).await;
    claim(&db, &["n"], 1).await;
    finish(&db, "x").await;
    assert_eq!(db.one("select count(*) from pgflow.job_trace").await, "0");
    db.check().await;
}

/// What happened meanwhile is not in it, and nothing is wrong with that.
#[tokio::test]
async fn it_can_be_switched_off_for_a_while() {
    let db = Db::new().await;
    submit(&db, "n", &["done", "again"]).await;
    claim(&db, &["n"], 2).await;
    db.run("select pgflow.set_job_settings(trace => false)").await;
    finish(&db, "done").await;
    settle(&db, "release_jobs", "again", "").await;
    db.run("select pgflow.set_job_settings(trace => true)").await;
    db.check().await;
    // From now on it is whole again.
    claim(&db, &["n"], 1).await;
    db.run("select pgflow.set_job_settings(trace => true)").await;
    db.run("update pgflow.job_trace set kind = 'finished' where kind = 'claimed' and trace_id = (select max(trace_id) from pgflow.job_trace)").await;
    let broken = "select invariant from pgflow.check()";
    assert_eq!(db.rows(broken).await, ["job_trace"]);
}
