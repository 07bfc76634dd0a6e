//! Jobs as programs and people look at them, and as the worker's adapter settles them.

use super::{claim, submit, submit_after};
use crate::harness::Db;

#[tokio::test]
async fn needs_are_paused_and_resumed() {
    let db = Db::new().await;
    submit(&db, "n", &["a"]).await;
    submit(&db, "m", &["b"]).await;
    assert_eq!(db.one("select pgflow.pause_needs('{n,n,o}', 'ann')").await, "2");
    assert_eq!(db.one("select pgflow.pause_needs('{n}', 'bob')").await, "0");
    let paused = "select need, paused_by from pgflow.list_paused_needs()";
    assert_eq!(db.rows(paused).await, ["n|ann", "o|ann"]);
    let claim = "select id from pgflow.claim_jobs('w', '{n,m}', 60, 9)";
    assert_eq!(db.rows(claim).await, ["b"]);
    assert_eq!(db.rows("select job_id from pgwf.get_work('w', '{n}')").await, [""; 0]);
    assert_eq!(db.one("select pgflow.resume_needs('{n,nothing}')").await, "1");
    assert_eq!(db.rows(claim).await, ["a"]);
}

#[tokio::test]
async fn jobs_are_listed_found_and_counted() {
    let db = Db::new().await;
    submit(&db, "n", &["a", "b"]).await;
    submit(&db, "m", &["c"]).await;
    claim(&db, &["m"], 1).await;
    assert_eq!(db.rows("select j from pgflow.list_jobs() j order by 1").await, ["a", "b", "c"]);
    let of_need = "select j from pgflow.find_jobs(need => 'n') j order by 1";
    assert_eq!(db.rows(of_need).await, ["a", "b"]);
    let by_name = "select j from pgflow.find_jobs_by_name('a', 'b', 10) j";
    assert_eq!(db.rows(by_name).await, ["a"]);
    let depths = "select need, state, jobs from pgflow.get_job_depths() order by 1";
    assert_eq!(db.rows(depths).await, ["m|leased|1", "n|ready|2"]);
    assert_eq!(db.rows("select jobs from pgflow.get_job_holders()").await, ["1"]);
    submit_after(&db, "w", &["a", "c", "a"], "release").await;
    submit_after(&db, "v", &["a"], "fail").await;
    let waiters = "select id, waiter from pgflow.get_job_waiters(array['c', 'a', 'w'])";
    assert_eq!(db.rows(waiters).await, ["a|v", "a|w", "c|w"]);
    let first = "select id, waiter from pgflow.get_job_waiters(array['a'], 1)";
    assert_eq!(db.rows(first).await, ["a|v"]);
    for waiter in ["w", "v"] {
        db.run(&format!("select pgflow.cancel_jobs(array['{waiter}'])")).await;
    }
    db.run("select pgflow.prune_jobs('0 seconds')").await;
    let summary = "select id, need, state from pgflow.get_job_summaries(array['c'])";
    assert_eq!(db.rows(summary).await, ["c|m|leased"]);
    assert_eq!(db.one("select pgflow.count_prunable_jobs('0 seconds', 10)").await, "0");
    assert_eq!(db.one("select crash_threshold from pgflow.get_job_settings()").await, "5");
    let counted = "select need, state, jobs from pgflow.count_jobs(100) order by 1";
    assert_eq!(db.rows(counted).await, ["m|leased|1", "n|ready|2"]);
    let first = "select first_ready = (select id from pgflow.jobs where need = 'n' order by priority desc, seq limit 1)
        from pgflow.count_jobs(100) where need = 'n'";
    assert_eq!(db.one(first).await, "t");
    assert_eq!(db.one("select pgflow.next_job(array['m']) > 0").await, "t");
    assert_eq!(db.one("select pgflow.next_job(array['nobody needs']) is null").await, "t");
}

#[tokio::test]
async fn what_is_settled_in_one_call_is_over_and_what_is_unknown_is_given_back() {
    let db = Db::new().await;
    submit(&db, "n", &["a", "b"]).await;
    claim(&db, &["n"], 2).await;
    let holds = "select pgflow.holds_job(id, token::text) from pgflow.jobs where id = 'a'";
    assert_eq!(db.one(holds).await, "t");
    assert_eq!(db.one("select pgflow.holds_job('a', 'another')").await, "f");
    let finish = "select outcome from pgflow.settle_jobs(array['a'],
        array(select token::text from pgflow.jobs where id = 'a'), array['finished'], array['1'::jsonb])";
    assert_eq!(db.one(finish).await, "applied");
    let late =
        "select outcome from pgflow.settle_job('b', 'another', '{\"verdict\": \"released\"}')";
    assert_eq!(db.one(late).await, "fenced");
    let back =
        "select pgflow.release_unknown_jobs(worker, '{}', '{}') from pgflow.jobs where id = 'b'";
    assert_eq!(db.one(back).await, "1");
    assert_eq!(super::live(&db).await, ["b:n:ready"]);
    db.check().await;
}
