//! The trace: events with their keys.

use std::collections::BTreeSet;

use super::{lapse, lease, submit};
use crate::harness::Db;

/// The latest event of a job as `type|worker|input keys|output keys`, and that no payload is in it.
async fn latest(db: &Db, id: &str) -> (String, BTreeSet<String>, BTreeSet<String>) {
    let keys = |column: &str| {
        format!(
            "coalesce((select string_agg(k, ' ' order by k) from jsonb_object_keys({column}) k), '')"
        )
    };
    let row = db
        .one(&format!(
            "select event_type || ' ' || worker_id, {}, {}, (input_data::text || coalesce(output_data::text, '')) ~ 'secret' from pgwf.jobs_trace
             where job_id = '{id}' order by trace_id desc limit 1",
            keys("input_data"),
            keys("output_data")
        ))
        .await;
    let parts: Vec<&str> = row.split('|').collect();
    assert_eq!(parts[3], "f", "a payload is in the trace");
    let set = |words: &str| words.split_whitespace().map(str::to_owned).collect();
    (parts[0].to_owned(), set(parts[1]), set(parts[2]))
}

async fn expect(db: &Db, id: &str, event: &str, input: &str, output: &str) {
    let set = |words: &str| words.split_whitespace().map(str::to_owned).collect::<BTreeSet<_>>();
    assert_eq!(latest(db, id).await, (event.to_owned(), set(input), set(output)), "{id}");
}

const RESCHEDULED: &str = "job_id worker_id previous_next_need previous_wait_for previous_available_at previous_expires_at \
                           next_need wait_for available_at expires_at";

#[tokio::test]
async fn every_event_has_its_keys() {
    let db = Db::new().await;
    db.run("select pgwf.submit_job('x', 's', 'n', '{}', '{\"secret\": 1}'::jsonb, 'k')").await;
    expect(
        &db,
        "x",
        "job_submitted s",
        "job_id worker_id next_need wait_for singleton_key available_at expires_at",
        "job_id next_need wait_for available_at expires_at",
    )
    .await;
    lease(&db, "n", "x").await;
    expect(
        &db,
        "x",
        "job_retrieved w",
        "worker_id worker_caps lease_seconds limit_jobs",
        "lease_id lease_expires_at",
    )
    .await;
    lapse(&db, "x").await;
    let token = lease(&db, "n", "x").await;
    let lapsed = "select input_data - 'previous_lease_id' - 'previous_lease_expires_at', output_data from pgwf.jobs_trace
        where event_type = 'lease_expiration_counter_incremented'";
    assert_eq!(
        db.rows(lapsed).await,
        [
            "{\"worker_id\": \"w\", \"worker_caps\": [\"n\"], \"lease_expiration_count\": 1, \"consecutive_expirations\": 1}|NULL"
        ]
    );
    let order = "select event_type from pgwf.jobs_trace order by trace_id desc limit 2";
    assert_eq!(db.rows(order).await, ["job_retrieved", "lease_expiration_counter_incremented"]);
    db.run(&format!("select pgwf.extend_lease('x', '{token}', 'w', 90)")).await;
    expect(
        &db,
        "x",
        "lease_extended w",
        "job_id lease_id additional_seconds",
        "previous_expires_at new_expires_at",
    )
    .await;
    db.run(&format!("select pgwf.reschedule_job('x', '{token}', 'w', 'm')")).await;
    expect(
        &db,
        "x",
        "reschedule_job w",
        &format!("{RESCHEDULED} lease_id"),
        "job_id next_need wait_for available_at expires_at",
    )
    .await;
    let moved = "select input_data->>'previous_next_need', input_data->>'next_need' from pgwf.jobs_trace where event_type = 'reschedule_job'";
    assert_eq!(db.rows(moved).await, ["n|m"]);
    db.run("select pgwf.reschedule_unheld_job('x', 'ops', 'o')").await;
    expect(
        &db,
        "x",
        "reschedule_job ops",
        &format!("{RESCHEDULED} rescheduled_without_lease"),
        "job_id next_need wait_for available_at expires_at",
    )
    .await;
    db.run("select pgwf.clear_crash_concern('x', 'ops', 'why')").await;
    expect(
        &db,
        "x",
        "crash_concern_cleared ops",
        "job_id worker_id previous_consecutive_expirations reason",
        "consecutive_expirations",
    )
    .await;
    let token = lease(&db, "o", "x").await;
    db.run(&format!("select pgwf.complete_job('x', '{token}', 'w')")).await;
    expect(&db, "x", "job_finished w", "job_id worker_id lease_id", "archived_row").await;
    let archived = "select output_data->'archived_row' = to_jsonb(a) - 'payload' from pgwf.jobs_trace t join pgwf.jobs_archive a using (job_id)
        where t.event_type = 'job_finished'";
    assert_eq!(db.rows(archived).await, ["t"]);
    db.check().await;
}

#[tokio::test]
async fn cancelling_is_traced_as_often_as_it_is_asked_for() {
    let db = Db::new().await;
    submit(&db, "n", &["x", "y"]).await;
    db.run("select pgwf.cancel_job('x', 'ops', 'why')").await;
    expect(&db, "x", "job_cancel_requested ops", "job_id worker_id reason was_active", "").await;
    db.run("select pgwf.cancel_job('x', 'ops', 'again')").await;
    expect(
        &db,
        "x",
        "job_cancel_requested ops",
        "job_id worker_id reason was_active already_cancelled",
        "",
    )
    .await;
    db.run("select pgwf.archive_cancelled_jobs('cron')").await;
    expect(
        &db,
        "x",
        "job_cancel_archived cron",
        "job_id worker_id cancel_requested_at",
        "archived_row",
    )
    .await;
    expect(
        &db,
        "pgwf.archive_cancelled_jobs",
        "job_cancel_archived_run cron",
        "worker_id limit archived_jobs",
        "",
    )
    .await;
    db.run("select pgwf.archive_cancelled_jobs('cron')").await;
    assert_eq!(
        db.one("select count(*) from pgwf.jobs_trace where event_type = 'job_cancel_archived_run'")
            .await,
        "1"
    );
    db.run("select pgwf.complete_unheld_job('y', 'ops')").await;
    expect(
        &db,
        "y",
        "job_finished ops",
        "job_id worker_id completed_without_lease",
        "archived_row",
    )
    .await;
    db.check().await;
}

/// A lease that ran out is none, whether anybody has noticed or not.
#[tokio::test]
async fn a_job_whose_lease_ran_out_is_not_active_when_it_is_cancelled() {
    let db = Db::new().await;
    submit(&db, "n", &["active", "lapsed"]).await;
    lease(&db, "n", "active").await;
    lease(&db, "n", "lapsed").await;
    lapse(&db, "lapsed").await;
    db.run("select pgwf.cancel_job('active', 'o'); select pgwf.cancel_job('lapsed', 'o')").await;
    let said = "select job_id, input_data -> 'was_active' from pgwf.jobs_trace where event_type = 'job_cancel_requested' order by 1";
    assert_eq!(db.rows(said).await, ["active|true", "lapsed|false"]);
    db.check().await;
}

#[tokio::test]
async fn clearing_counts_a_lapse_that_nobody_has_noticed() {
    let db = Db::new().await;
    db.run("select pgwf.submit_job('x', 'w', 'n', p_singleton_key => 'k'); select pgwf.submit_job('y', 'w', 'n', p_singleton_key => 'k')").await;
    lease(&db, "n", "x").await;
    lapse(&db, "x").await;
    db.run("select pgwf.clear_crash_concern('x', 'ops')").await;
    let events = "select event_type, worker_id from pgwf.jobs_trace where job_id = 'x' order by trace_id desc limit 2";
    assert_eq!(
        db.rows(events).await,
        ["crash_concern_cleared|ops", "lease_expiration_counter_incremented|ops"]
    );
    let counters =
        "select lease_expiration_count, consecutive_expirations from pgwf.jobs where job_id = 'x'";
    assert_eq!(db.one(counters).await, "1|0");
    db.check().await;
    lease(&db, "n", "x").await;
    db.check().await;
}

/// No job is pruned that they are of.
#[tokio::test]
async fn entries_about_sweeps_are_pruned_by_their_age() {
    let db = Db::new().await;
    submit(&db, "n", &["x", "y"]).await;
    for id in ["x", "y"] {
        db.run(&format!(
            "select pgwf.cancel_job('{id}', 'ops'); select pgwf.archive_cancelled_jobs('cron')"
        ))
        .await;
    }
    let runs = "select count(*) from pgwf.jobs_trace where event_type = 'job_cancel_archived_run'";
    db.run("update pgflow.job_trace set at = at - interval '2 days' where trace_id = (select min(trace_id) from pgflow.job_trace where kind = 'swept')").await;
    db.run("select pgflow.prune_jobs('1 day')").await;
    assert_eq!(db.one(runs).await, "1");
    db.run("select pgflow.prune_jobs('0 seconds')").await;
    assert_eq!(db.one("select count(*) from pgwf.jobs_trace").await, "0");
    db.check().await;
}
