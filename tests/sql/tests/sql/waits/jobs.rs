//! Waiting for jobs.

use super::wait;
use crate::harness::{Db, Run, define};

const WAKE: &str = "select woken, timed_out from pgflow.wake_waits()";

async fn parent<'a>(db: &'a Db, children: &str) -> Run<'a> {
    let run = db.start("f", "{}").await;
    db.claim("f").await;
    let jobs = format!(r#"{{"on": "jobs", "each": true, "children": {children}}}"#);
    assert_eq!(wait(&run, db, "a", 1, &jobs).await, "applied");
    db.check().await;
    run
}

/// Claims the job of this need and finishes it.
async fn finish(db: &Db, need: &str, output: &str) {
    db.run(&format!(
        "select pgflow.finish_jobs(array[c.id], array[c.token::text], array['{output}'::jsonb])
           from pgflow.claim_jobs('w', array['{need}'], 10, 1) c"
    ))
    .await;
    db.check().await;
}

#[tokio::test]
async fn the_output_is_that_of_all_jobs() {
    let db = Db::with(&define("f", &["a", "b after a"])).await;
    let run =
        parent(&db, r#"[{"need": "n", "payload": 1}, {"need": "o", "payload": 2, "id": "mine"}]"#)
            .await;
    let by = "select distinct worker from pgflow.job_events where kind = 'submitted'";
    assert_eq!(db.one(by).await, format!("run {}", run.id));
    finish(&db, "o", "20").await;
    assert_eq!(db.one(WAKE).await, "0|0");
    finish(&db, "n", "10").await;
    assert_eq!(db.one(WAKE).await, "1|0");
    assert_eq!(run.step("a", "output").await, "[10, 20]");
    db.check().await;
}

#[tokio::test]
async fn a_job_that_is_over_or_there_is_waited_for_as_it_is() {
    let db = Db::with(&define("f", &["a"])).await;
    db.run("select pgflow.submit_jobs(array['over', 'there'], array['n', 'o'])").await;
    finish(&db, "n", "1").await;
    let run = parent(&db, r#"[{"id": "over", "need": "n"}, {"id": "there", "need": "o"}]"#).await;
    assert_eq!(db.one(WAKE).await, "0|0");
    db.check().await;
    finish(&db, "o", "2").await;
    assert_eq!(db.one(WAKE).await, "1|0");
    assert_eq!(run.get("output").await, r#"{"a": [1, 2]}"#);
    db.check().await;
}

#[tokio::test]
async fn jobs_go_with_who_waits_for_them() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = parent(&db, r#"[{"id": "one", "need": "n"}, {"id": "two", "need": "n"}]"#).await;
    db.run(&format!("select pgflow.cancel_run('{}')", run.id)).await;
    db.check().await;
    assert_eq!(db.one("select children, runs from pgflow.cancel_abandoned()").await, "2|{}");
    assert_eq!(
        db.rows("select id, outcome, cancel_by, cancel_reason from pgflow.job_archive order by 1")
            .await,
        ["one", "two"]
            .map(|id| format!("{id}|cancelled|run {0}|parent run {0} was cancelled", run.id))
    );
    db.check().await;
}

#[tokio::test]
async fn a_job_that_fails_fails_the_attempt() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = parent(&db, r#"[{"id": "one", "need": "n"}, {"id": "two", "need": "n"}]"#).await;
    db.run("select pgflow.cancel_jobs(array['two'], 'no')").await;
    db.check().await;
    assert_eq!(db.one(WAKE).await, "1|0");
    assert_eq!(run.task("a", 0, "error_message").await, "child job two was cancelled: no");
    assert_eq!(db.one("select children from pgflow.cancel_abandoned()").await, "1");
    db.check().await;
}

#[tokio::test]
async fn a_job_that_cannot_be_submitted_fails_the_attempt() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = parent(&db, r#"[{"need": "n"}, {"need": ""}]"#).await;
    assert_eq!(run.tasks().await, ["a#0:queued:1"]);
    assert_eq!(db.one("select count(*) from pgflow.jobs").await, "0");
    db.check().await;
}
