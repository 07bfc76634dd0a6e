//! Finishing, failing, releasing.

use super::{archive, claim, finish, list, live, settle, submit, submit_with};
use crate::harness::Db;

#[tokio::test]
async fn a_finished_job_is_archived_with_its_output() {
    let db = Db::new().await;
    submit(&db, "n", &["x"]).await;
    claim(&db, &["n"], 1).await;
    let token = db.one("select token from pgflow.jobs").await;
    let call = format!(
        "select outcome from pgflow.finish_jobs(array['x'], array['{token}'], array['{{\"total\": 3}}']::jsonb[], 'me')"
    );
    assert_eq!(db.one(&call).await, "applied");
    assert_eq!(db.one(&call).await, "already_settled");
    let get = "select id, status, output, attempts, worker, archived_at is not null from pgflow.get_jobs(array['x', 'nobody'])";
    assert_eq!(db.rows(get).await, ["x|done|{\"total\": 3}|1|w|t"]);
    let other = "select outcome from pgflow.finish_jobs(array['x'], array['other'])";
    assert_eq!(db.one(other).await, "fenced");
    db.check().await;
}

#[tokio::test]
async fn a_batch_says_what_became_of_each() {
    let db = Db::new().await;
    submit(&db, "n", &["a", "b", "c"]).await;
    claim(&db, &["n"], 2).await;
    let ids = list(&["b", "zz", "a", "c", "a"]);
    let tokens = "array[(select token::text from pgflow.jobs where id = 'b'), 'x', (select token::text from pgflow.jobs where id = 'a'),
        null, (select token::text from pgflow.jobs where id = 'a')]";
    assert_eq!(
        db.rows(&format!("select id, outcome from pgflow.finish_jobs({ids}, {tokens})")).await,
        ["b|applied", "zz|unknown", "a|applied", "c|fenced", "a|already_settled"]
    );
    assert_eq!(live(&db).await, ["c:n:ready"]);
    db.check().await;
}

/// Not even the lease that a job does not have.
#[tokio::test]
async fn a_null_token_opens_nothing() {
    let db = Db::new().await;
    submit(&db, "n", &["leased", "free"]).await;
    claim(&db, &["n"], 1).await;
    for call in [
        "finish_jobs(array['leased', 'free'], array[null, null]::text[])",
        "fail_jobs(array['leased', 'free'], array[null, null]::text[], array['x', 'x'])",
        "release_jobs(array['leased', 'free'], array[null, null]::text[])",
        "reschedule_jobs(array['leased', 'free'], array[null, null]::text[], array['m', 'm'])",
    ] {
        let outcomes = db.rows(&format!("select outcome from pgflow.{call}")).await;
        assert_eq!(outcomes, ["fenced", "fenced"], "{call}");
    }
    let beat = "select outcome from pgflow.beat_jobs(array['leased', 'free'], array[null, null]::text[], 60)";
    assert_eq!(db.rows(beat).await, ["lost", "lost"]);
    assert_eq!(live(&db).await, ["leased:n:leased a1", "free:n:ready"]);
    db.check().await;
}

#[tokio::test]
async fn a_failed_job_waits_and_keeps_its_place() {
    let db = Db::new().await;
    submit(&db, "n", &["x", "y"]).await;
    claim(&db, &["n"], 1).await;
    assert_eq!(settle(&db, "fail_jobs", "x", ", array['boom'], array[60000]").await, "applied");
    assert_eq!(live(&db).await, ["x:n:sleeping a1 f1", "y:n:ready"]);
    db.run("update pgflow.jobs set wake_at = clock_timestamp() where id = 'x'").await;
    assert_eq!(
        db.rows("select id, attempt, failures, last_error from pgflow.claim_jobs('w', array['n'], 60, 1)").await,
        ["x|2|1|boom"]
    );
    assert_eq!(settle(&db, "fail_jobs", "x", ", array['again']").await, "applied");
    assert_eq!(claim(&db, &["n"], 2).await, ["x", "y"]);
    db.check().await;
}

#[tokio::test]
async fn attempts_run_out_and_a_fatal_failure_is_the_last() {
    let db = Db::new().await;
    submit_with(&db, "twice", "n", "max_attempts => array[2]").await;
    submit_with(&db, "fatal", "n", "max_attempts => array[9]").await;
    for _ in 0..2 {
        claim(&db, &["n"], 2).await;
        settle(&db, "fail_jobs", "twice", ", array['boom']").await;
    }
    settle(&db, "fail_jobs", "fatal", ", array['no'], null, array[true]").await;
    assert_eq!(live(&db).await, [""; 0]);
    assert_eq!(archive(&db).await, ["twice:failed", "fatal:failed"]);
    let get = "select id, status, error, attempts, failures from pgflow.get_jobs(array['twice', 'fatal'])";
    assert_eq!(db.rows(get).await, ["twice|failed|boom|2|2", "fatal|failed|no|1|1"]);
    db.check().await;
}

#[tokio::test]
async fn a_release_counts_nothing() {
    let db = Db::new().await;
    submit_with(&db, "x", "n", "max_attempts => array[1], keys => array['k']").await;
    for _ in 0..3 {
        assert_eq!(claim(&db, &["n"], 1).await, ["x"]);
        assert_eq!(settle(&db, "release_jobs", "x", "").await, "applied");
        assert_eq!(live(&db).await, ["x:n:ready"]);
    }
    claim(&db, &["n"], 1).await;
    finish(&db, "x").await;
    db.check().await;
}

#[tokio::test]
async fn a_lost_last_attempt_is_a_crash() {
    let db = Db::new().await;
    submit_with(&db, "x", "n", "max_attempts => array[1]").await;
    claim(&db, &["n"], 1).await;
    super::lapse(&db, &["x"]).await;
    assert_eq!(claim(&db, &["n"], 1).await, [""; 0]);
    assert_eq!(archive(&db).await, ["x:crashed"], "the claim ended it");
    db.check().await;
}

/// An answer that got lost is asked for again.
#[tokio::test]
async fn a_settle_that_is_repeated_is_no_news() {
    for (function, more) in [
        ("finish_jobs", ""),
        ("fail_jobs", ", array['x']"),
        ("release_jobs", ""),
        ("reschedule_jobs", ", array['m']"),
    ] {
        let db = Db::new().await;
        submit(&db, "n", &["x"]).await;
        claim(&db, &["n"], 1).await;
        let token = db.one("select token from pgflow.jobs").await;
        let call =
            format!("select outcome from pgflow.{function}(array['x'], array['{token}']{more})");
        assert_eq!(db.one(&call).await, "applied", "{function}");
        let before = live(&db).await;
        assert_eq!(db.one(&call).await, "already_settled", "{function}");
        assert_eq!(live(&db).await, before, "{function}");
        db.check().await;
    }
}
