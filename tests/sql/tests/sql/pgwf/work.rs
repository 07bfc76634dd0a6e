//! A job's life through the facade.

use super::{lease, status, submit};
use crate::harness::{Db, Waiting, define};

#[tokio::test]
async fn submit_says_what_it_stored() {
    let db = Db::new().await;
    submit(&db, "n", &["dep"]).await;
    let row = "select job_id, next_need, wait_for, payload, available_at = timestamptz '2030-01-01' from pgwf.submit_job(
        'x', 'w', 'Need.Of', array['dep', null, 'dep'], '{\"a\": 1}'::jsonb, 'key', timestamptz '2030-01-01')";
    assert_eq!(db.one(row).await, "x|Need.Of|{dep,dep}|{\"a\": 1}|t");
    let stored = "select next_need, wait_for, payload, singleton_key, available_at = timestamptz '2030-01-01', expires_at, lease_id,
        lease_expires_at, lease_expiration_count, consecutive_expirations, cancel_requested, cancel_requested_by
        from pgwf.jobs where job_id = 'x'";
    assert_eq!(
        db.one(stored).await,
        "Need.Of|{dep,dep}|{\"a\": 1}|key|t|infinity|NULL|-infinity|0|0|f|NULL"
    );
    db.run("select pgwf.submit_job('nulls', 'w', 'n', null, null, null, null, null)").await;
    let nulls = "select wait_for, payload, expires_at, available_at <= clock_timestamp() from pgwf.jobs where job_id = 'nulls'";
    assert_eq!(db.one(nulls).await, "{}|{}|infinity|t");
    db.check().await;
}

#[tokio::test]
async fn work_is_given_to_who_can_do_it_the_oldest_first() {
    let db = Db::new().await;
    submit(&db, "a", &["1"]).await;
    submit(&db, "b", &["2"]).await;
    submit(&db, "a", &["3", "4"]).await;
    let work =
        "select job_id, next_need, singleton_key, wait_for, payload, lease_id ~ '^[0-9a-f-]{36}$',
        extract(epoch from lease_expires_at - clock_timestamp()) between 20 and 30
        from pgwf.get_work('w', array['a', 'b', 'c'], 30, 3)";
    assert_eq!(
        db.rows(work).await,
        ["1|a|NULL|{}|{}|t|t", "2|b|NULL|{}|{}|t|t", "3|a|NULL|{}|{}|t|t"]
    );
    assert_eq!(status(&db, "1").await, "ACTIVE");
    assert_eq!(db.rows("select job_id from pgwf.get_work('w', array['a', null])").await, ["4"]);
    assert_eq!(db.rows("select job_id from pgwf.get_work('w', array['a'])").await, [""; 0]);
}

#[tokio::test]
async fn a_lease_is_extended_from_now() {
    let db = Db::new().await;
    submit(&db, "n", &["x"]).await;
    let lease = lease(&db, "n", "x").await;
    for seconds in [600, 10] {
        let extend = format!(
            "select ceil(extract(epoch from pgwf.extend_lease('x', '{lease}', 'w', {seconds}) - clock_timestamp()))"
        );
        assert_eq!(db.one(&extend).await, seconds.to_string());
    }
    db.run("update pgflow.jobs set expires_at = created_at").await;
    db.run(&format!("select pgwf.extend_lease('x', '{lease}', 'w')")).await;
    db.check().await;
}

#[tokio::test]
async fn a_job_is_handed_over_and_comes_back_at_its_place() {
    let db = Db::new().await;
    submit(&db, "n", &["x", "dep"]).await;
    let lease = lease(&db, "n", "x").await;
    let moved = format!("select job_id, next_need, wait_for, available_at <= clock_timestamp() from pgwf.reschedule_job(
        'x', '{lease}', 'w', 'm', array['dep'], p_payload => '{{\"b\": 2}}')");
    assert_eq!(db.one(&moved).await, "x|m|{dep}|t");
    assert_eq!(status(&db, "x").await, "PENDING_JOBS");
    assert_eq!(
        db.one("select payload, lease_id, lease_expires_at from pgwf.jobs where job_id = 'x'")
            .await,
        "{\"b\": 2}|NULL|-infinity"
    );
    assert_eq!(db.one("select pgwf.complete_unheld_job('dep', 'ops')").await, "t");
    assert_eq!(status(&db, "x").await, "READY");
    let lease = super::lease(&db, "m", "x").await;
    assert_eq!(db.one(&format!("select pgwf.complete_job('x', '{lease}', 'w')")).await, "t");
    let archived = format!("select job_id, wait_for, lease_id = '{lease}', lease_expiration_count, consecutive_expirations, cancel_requested
        from pgwf.jobs_archive order by job_id");
    assert_eq!(db.rows(&archived).await, ["dep|{}|NULL|0|0|f", "x|{}|t|0|0|f"]);
    db.check().await;
}

#[tokio::test]
async fn cancelled_jobs_stay_until_they_are_archived() {
    let db = Db::new().await;
    submit(&db, "n", &["leased", "waiting", "sleeping"]).await;
    let lease = lease(&db, "n", "leased").await;
    db.run("select pgwf.submit_job('dependent', 'w', 'm', array['waiting'])").await;
    let row = "select (pgwf.cancel_job('waiting', 'ops', 'why')).job_id";
    assert_eq!(db.one(row).await, "waiting");
    db.run("select pgwf.cancel_job('leased', 'ops')").await;
    assert_eq!(status(&db, "waiting").await, "CANCELLED");
    assert_eq!(status(&db, "leased").await, "ACTIVE");
    assert_eq!(
        db.one("select cancelled_by, cancelled_at is not null from pgwf.jobs_friendly_status where job_id = 'waiting'").await,
        "ops|t"
    );
    assert_eq!(status(&db, "dependent").await, "PENDING_JOBS");
    db.check().await;
    assert_eq!(db.one("select pgwf.archive_cancelled_jobs('ops', 10)").await, "1");
    assert_eq!(status(&db, "dependent").await, "READY");
    assert_eq!(db.one("select pgwf.archive_cancelled_jobs('ops')").await, "0");
    // Who works on it may still complete it.
    assert_eq!(db.one(&format!("select pgwf.complete_job('leased', '{lease}', 'w')")).await, "t");
    assert_eq!(
        db.rows("select job_id, cancel_requested, cancel_requested_by from pgwf.jobs_archive order by job_id").await,
        ["leased|t|ops", "waiting|t|ops"]
    );
    db.check().await;
}

#[tokio::test]
async fn a_second_cancel_changes_nothing() {
    let db = Db::new().await;
    submit(&db, "n", &["x"]).await;
    let asked = "select cancel_requested, cancel_requested_by, cancel_requested_at from pgwf.jobs";
    db.run("select pgwf.cancel_job('x', 'ann', 'why')").await;
    let first = db.one(asked).await;
    assert!(first.starts_with("t|ann|"), "{first}");
    let again = "select (pgwf.cancel_job('x', 'bob', 'also')).cancel_requested_by";
    assert_eq!(db.one(again).await, "ann");
    assert_eq!(db.one(asked).await, first, "who asked first, and when");
    assert_eq!(db.one("select pgwf.archive_cancelled_jobs('ops')").await, "1");
    assert_eq!(db.one("select cancel_requested_by from pgwf.jobs_archive").await, "ann");
    db.check().await;
}

/// The oldest first, no more than the limit; what a job went through stays counted, in a row as well.
#[tokio::test]
async fn cancelled_jobs_are_archived_in_turn() {
    let db = Db::new().await;
    submit(&db, "n", &["c", "a", "b", "d"]).await;
    for id in ["c", "a"] {
        lease(&db, "n", id).await;
        super::lapse(&db, id).await;
        db.run(&format!("select pgwf.cancel_job('{id}', 'ops')")).await;
    }
    // The lapse has set them back by an hour, and the one that came first stays the first.
    for id in ["d", "b"] {
        db.run(&format!("select pgwf.cancel_job('{id}', 'ops')")).await;
    }
    let archived = "select job_id, lease_expiration_count, consecutive_expirations from pgwf.jobs_archive order by archived_at, job_id";
    assert_eq!(db.one("select pgwf.archive_cancelled_jobs('ops', 1)").await, "1");
    assert_eq!(db.rows(archived).await, ["c|1|1"]);
    assert_eq!(db.one("select pgwf.archive_cancelled_jobs('ops', 2)").await, "2");
    assert_eq!(db.rows(archived).await, ["c|1|1", "a|1|1", "b|0|0"]);
    assert_eq!(db.one("select pgwf.archive_cancelled_jobs('ops', 2)").await, "1");
    db.check().await;
}

/// Those that somebody holds are passed over, and others come in their place.
#[tokio::test]
async fn as_many_cancelled_jobs_are_archived_as_may_be() {
    let db = Db::new().await;
    submit(&db, "n", &["a", "b", "c", "d"]).await;
    db.run("select pgwf.cancel_job(job_id, 'ops') from pgwf.jobs").await;
    let mut holder = db.session().await;
    holder.run("begin; select from pgflow.jobs where id in ('a', 'b') for update").await;
    assert_eq!(db.one("select pgwf.archive_cancelled_jobs('ops', 2)").await, "2");
    assert_eq!(db.rows("select job_id from pgwf.jobs_archive order by 1").await, ["c", "d"]);
    holder.run("rollback").await;
    assert_eq!(db.one("select pgwf.archive_cancelled_jobs('ops', 9)").await, "2");
    db.check().await;
}

/// What it lost in a row is over with its good end; what it lost in all is not.
#[tokio::test]
async fn a_completed_job_keeps_its_lapses_and_not_its_streak() {
    let db = Db::new().await;
    submit(&db, "n", &["x"]).await;
    for _ in 0..2 {
        lease(&db, "n", "x").await;
        super::lapse(&db, "x").await;
    }
    let token = lease(&db, "n", "x").await;
    let counters = "select lease_expiration_count, consecutive_expirations from";
    assert_eq!(db.one(&format!("{counters} pgwf.jobs")).await, "2|2");
    assert_eq!(db.one(&format!("select pgwf.complete_job('x', '{token}', 'w')")).await, "t");
    assert_eq!(db.one(&format!("{counters} pgwf.jobs_archive")).await, "2|0");
    db.check().await;
}

#[tokio::test]
async fn a_cancelled_job_whose_lease_lapsed_is_archived_too() {
    let db = Db::new().await;
    submit(&db, "n", &["x"]).await;
    lease(&db, "n", "x").await;
    db.run("select pgwf.cancel_job('x', 'ops')").await;
    assert_eq!(db.one("select pgwf.archive_cancelled_jobs('ops')").await, "0");
    super::lapse(&db, "x").await;
    assert_eq!(status(&db, "x").await, "CANCELLED");
    assert_eq!(db.one("select pgwf.archive_cancelled_jobs('ops')").await, "1");
    db.check().await;
}

#[tokio::test]
async fn toggles_are_settings_of_the_database() {
    let db = Db::new().await;
    assert_eq!(db.one("select pgwf.is_trace_enabled(), pgwf.is_notify_enabled(), pgwf.crash_concern_threshold()").await, "t|f|5");
    assert_eq!(db.one("select pgwf.set_trace(false), pgwf.set_notify(true), pgwf.set_crash_concern_threshold(2)").await, "f|t|2");
    assert_eq!(db.one("select pgwf.is_trace_enabled(), pgwf.is_notify_enabled(), pgwf.crash_concern_threshold()").await, "f|t|2");
    submit(&db, "n", &["x"]).await;
    assert_eq!(db.one("select count(*) from pgwf.jobs_trace").await, "0");
    // Two at once: the second waits, and counts.
    let mut first = db.session().await;
    first.run("begin; select pgwf.set_trace(true)").await;
    let second = crate::harness::Waiting::for_a_lock(&db, "select pgwf.set_trace(false)").await;
    first.run("commit").await;
    assert_eq!(second.answer().await.expect("no error"), ["f"]);
    assert_eq!(db.one("select pgwf.is_trace_enabled()").await, "f");
}

/// Clients that use chrono or time cannot read moments without end, or of the year 200,000.
#[tokio::test]
async fn moments_that_never_come_are_kept_so_that_clients_can_read_them() {
    let db = Db::new().await;
    for (id, arguments) in [
        ("a", "p_available_at => 'infinity'"),
        ("b", "p_available_at => '-infinity'"),
        ("c", "p_available_at => '294000-01-01'"),
        ("d", "p_expires_at => '-infinity'"),
        ("e", "p_expires_at => '294000-01-01'"),
        ("f", "p_expires_at => 'infinity'"),
    ] {
        db.run(&format!("select pgwf.submit_job('{id}', 'w', 'n', {arguments})")).await;
    }
    db.run("select pgwf.submit_job('g', 'w', 'm')").await;
    let lease = lease(&db, "m", "g").await;
    db.run(&format!(
        "select pgwf.reschedule_job('g', '{lease}', 'w', 'n', p_available_at => '294000-01-01')"
    ))
    .await;
    let statuses = "select string_agg(job_id || ':' || status, ' ' order by job_id) from pgwf.jobs_with_status";
    assert_eq!(
        db.one(statuses).await,
        "a:AWAITING_FUTURE b:READY c:AWAITING_FUTURE d:EXPIRED e:READY f:READY g:AWAITING_FUTURE"
    );
    let read = "select count(*) from pgflow.get_jobs(array['a', 'b', 'c', 'd', 'e', 'f', 'g']) j,
        unnest(array[wake_at, expires_at]) m where not isfinite(m) or m not between '0001-01-01' and '9999-12-31'";
    assert_eq!(db.one(read).await, "0");
    db.check().await;
}

/// Nobody waits for a job that sleeps for ever, and it stands in nobody's way.
#[tokio::test]
async fn a_job_that_sleeps_for_ever_stops_no_claim() {
    let db = Db::with(&define("f", &["a"])).await;
    let run = db.start("f", "1").await;
    db.run("select pgwf.submit_job('x', 'w', 'n', p_available_at => 'infinity')").await;
    assert_eq!(db.one("select pgflow.next_job(array['n']) is null").await, "t");
    let tasks = db.claim("f").await;
    assert_eq!(tasks.len(), 1);
    let trip = format!(
        "select kind, outcome from pgflow.settle_and_claim_all(
           array['{}'::uuid], array['a'], array[0], array['1'::jsonb], array[1], queue_names => array['f'], qty => 3, worker => 'w',
           wanted_needs => array['n'], wanted_parts => array[1], part_seconds => array[60], part_quotas => array[2])
         where kind = 'task'",
        run.id
    );
    db.rows(&trip).await;
    assert_eq!(run.status().await, "completed");
    let look = "select what from pgflow.look_at_queue('w', 'n', '{}', '{}', 9)";
    assert_eq!(db.rows(look).await, [""; 0]);
    db.run("select pgwf.submit_job('y', 'w', 'n', p_available_at => clock_timestamp() + interval '1 hour')").await;
    assert_eq!(db.one("select pgflow.next_job(array['n']) between 3500 and 3600").await, "t");
    db.check().await;
}

/// The published tables take any text.
#[tokio::test]
async fn names_may_be_empty() {
    let db = Db::new().await;
    db.run("select pgwf.submit_job('a', 'w', '', p_singleton_key => 'k'); select pgwf.submit_job('', 'w', '', p_singleton_key => 'k')").await;
    let first = lease(&db, "", "a").await;
    db.run(&format!("select pgwf.complete_job('a', '{first}', 'w')")).await;
    let second = lease(&db, "", "").await;
    submit(&db, "n", &["waits"]).await;
    let held = lease(&db, "n", "waits").await;
    let mut ends = db.session().await;
    ends.run(&format!("begin; select pgwf.complete_job('', '{second}', 'w')")).await;
    let after = format!("select pgwf.reschedule_job('waits', '{held}', 'w', 'm', array[''])");
    let after = Waiting::for_a_lock(&db, &after).await;
    ends.run("commit").await;
    after.answer().await.expect("no error");
    assert_eq!(status(&db, "waits").await, "READY");
    db.check().await;
}
