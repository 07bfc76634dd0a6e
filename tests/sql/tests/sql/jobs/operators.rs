//! What people do by hand: complete and reschedule without a lease, redrive, prune.

use super::{
    archive, claim, complete, lapse, list, live, settle, submit, submit_after, submit_with,
};
use crate::harness::Db;

async fn a_job_of_each_kind() -> Db {
    let db = Db::new().await;
    submit(&db, "n", &["leased", "ready"]).await;
    assert_eq!(claim(&db, &["n"], 1).await, ["leased"]);
    submit_with(&db, "sleeps", "n", "delays => array[3600000]").await;
    submit_after(&db, "waits", &["leased"], "release").await;
    submit_with(&db, "expired", "n", "lifetimes => array[0]").await;
    db
}

const IDS: &[&str] = &["leased", "ready", "sleeps", "waits", "expired", "nobody"];
const REFUSED: &[&str] = &[
    "leased|refused:ACTIVE",
    "ready|applied",
    "sleeps|refused:AWAITING_FUTURE",
    "waits|refused:PENDING_JOBS",
    "expired|applied",
    "nobody|unknown",
];

#[tokio::test]
async fn what_is_unheld_is_completed_by_hand() {
    let db = a_job_of_each_kind().await;
    let call = format!(
        "select id, concat_ws(':', outcome, status) from pgflow.complete_unheld_jobs({}, null, 'ops')",
        list(IDS)
    );
    assert_eq!(db.rows(&call).await, REFUSED);
    assert_eq!(archive(&db).await, ["ready:done", "expired:done"]);
    assert_eq!(db.rows(&call).await[1], "ready|already_settled");
    db.check().await;
}

#[tokio::test]
async fn what_is_unheld_is_rescheduled_by_hand() {
    let db = a_job_of_each_kind().await;
    let needs = list(&["m"; 6]);
    let call = format!(
        "select id, concat_ws(':', outcome, status) from pgflow.reschedule_unheld_jobs({}, {needs}, worker => 'ops')",
        list(IDS)
    );
    assert_eq!(db.rows(&call).await, REFUSED);
    assert_eq!(claim(&db, &["m"], 9).await, ["ready"]);
    db.check().await;
}

#[tokio::test]
async fn a_job_in_concern_is_ended_by_hand_and_its_waiters_go_on() {
    let db = Db::new().await;
    db.run("select pgflow.set_job_settings(crash_threshold => 1)").await;
    submit(&db, "n", &["x"]).await;
    submit_after(&db, "waiter", &["x"], "fail").await;
    for _ in 0..2 {
        claim(&db, &["n"], 1).await;
        lapse(&db, &["x"]).await;
    }
    // Nobody has noticed the second lapse.
    assert_eq!(
        db.one("select outcome from pgflow.complete_unheld_jobs(array['x'])").await,
        "applied"
    );
    assert_eq!(live(&db).await, ["waiter:join:ready"]);
    assert_eq!(db.one("select lapses, streak from pgflow.job_archive").await, "2|0");
    db.check().await;
}

async fn a_dead_job(db: &Db, id: &str, more: &str) {
    submit_with(db, id, "n", &format!("max_attempts => array[1]{more}")).await;
    assert_eq!(claim(db, &["n"], 1).await, [id]);
    settle(db, "fail_jobs", id, ", array['boom']").await;
}

#[tokio::test]
async fn the_dead_come_back_with_a_fresh_budget() {
    let db = Db::new().await;
    a_dead_job(&db, "failed", ", keys => array['k']").await;
    submit_with(&db, "crashed", "n", "max_attempts => array[1]").await;
    claim(&db, &["n"], 1).await;
    lapse(&db, &["crashed"]).await;
    db.run("select pgflow.sweep_jobs()").await;
    submit(&db, "n", &["done"]).await;
    complete(&db, "n", "done").await;
    assert_eq!(archive(&db).await, ["failed:failed", "crashed:crashed", "done:done"]);
    assert_eq!(
        db.rows("select * from pgflow.redrive_jobs(array['failed', 'done', 'nobody', 'failed'])")
            .await,
        [
            "failed|redriven|NULL",
            "done|not_redrivable|done",
            "nobody|unknown|NULL",
            "failed|live|NULL"
        ]
    );
    assert_eq!(
        db.rows("select id, outcome from pgflow.redrive_jobs(need => 'n', worker => 'ops')").await,
        ["crashed|redriven"]
    );
    assert_eq!(live(&db).await, ["failed:n:ready a1 f1", "crashed:n:ready a1 l1"]);
    db.check().await;
    complete(&db, "n", "failed").await;
    let trace = "select kind from pgflow.read_job_trace('failed')";
    assert_eq!(
        db.rows(trace).await,
        ["submitted", "claimed", "failed", "redriven", "claimed", "finished"]
    );
    db.check().await;
}

#[tokio::test]
async fn a_rate_spreads_them() {
    let db = Db::new().await;
    for id in ["1", "2", "3"] {
        a_dead_job(&db, id, "").await;
    }
    db.run("select pgflow.redrive_jobs(need => 'n', rate => 0.001)").await;
    assert_eq!(live(&db).await, ["1:n:ready a1 f1", "2:n:sleeping a1 f1", "3:n:sleeping a1 f1"]);
    let gaps = "select round(extract(epoch from wake_at - lag(wake_at) over (order by seq))) from pgflow.jobs";
    assert_eq!(db.rows(gaps).await, ["NULL", "1000", "1000"]);
    db.check().await;
}

#[tokio::test]
async fn pruning_takes_the_trace_along_and_no_live_job() {
    let db = Db::new().await;
    submit(&db, "n", &["over", "live"]).await;
    complete(&db, "n", "over").await;
    assert_eq!(db.one("select pgflow.prune_jobs('1 day')").await, "0");
    assert_eq!(db.one("select pgflow.prune_jobs('0 seconds', 10)").await, "1");
    assert_eq!(db.rows("select job, kind from pgflow.job_events").await, ["live|submitted"]);
    assert_eq!(archive(&db).await, [""; 0]);
    for wrong in [
        "select pgflow.prune_jobs(null)",
        "select pgflow.prune_jobs('-1 day')",
        "select pgflow.prune_jobs('1 day', 0)",
    ] {
        assert_eq!(db.error(wrong).await.code, "22023", "{wrong}");
    }
    db.check().await;
}

#[tokio::test]
async fn those_that_are_named_wake_in_that_order() {
    let db = Db::new().await;
    for id in ["1", "2", "3"] {
        a_dead_job(&db, id, "").await;
    }
    let redrive = "select id, outcome from pgflow.redrive_jobs(array['3', 'none', '1', '3', '2'], rate => 0.001)";
    let expected = ["3|redriven", "none|unknown", "1|redriven", "3|live", "2|redriven"];
    assert_eq!(db.rows(redrive).await, expected);
    assert_eq!(db.rows("select id from pgflow.jobs order by wake_at").await, ["3", "1", "2"]);
    db.check().await;
}

/// Moments have to be some that clocks show.
#[tokio::test]
async fn a_rate_that_takes_centuries_is_refused() {
    let db = Db::new().await;
    for id in ["1", "2", "3"] {
        a_dead_job(&db, id, "").await;
    }
    for rate in ["1e-300", "1e-320", "1e-11", "6e-10"] {
        let wrong = format!("select pgflow.redrive_jobs(need => 'n', rate => {rate}::float8)");
        let failure = db.error(&wrong).await;
        assert_eq!(failure.code, "22023", "{rate}");
        assert!(failure.message.contains("hundred years"), "{}", failure.message);
    }
    assert_eq!(live(&db).await, [""; 0]);
    db.run("select pgflow.redrive_jobs(array['1'], rate => 1e-300)").await;
    db.run("select pgflow.redrive_jobs(array['2', '3'], rate => 7e-10)").await;
    assert_eq!(live(&db).await, ["1:n:ready a1 f1", "2:n:ready a1 f1", "3:n:sleeping a1 f1"]);
    db.check().await;
}
