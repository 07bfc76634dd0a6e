//! What a worker says that it found out, and what comes of it.

use super::database;
use crate::harness::Db;

/// The id of a moment's run in these tests.
fn id(number: usize) -> String {
    format!("00000000-0000-4000-8000-00000000000{number}")
}

/// A schedule whose moments count from ten minutes ago on.
async fn scheduled(options: &str) -> Db {
    let db = database().await;
    let create = format!("select pgflow.create_schedule('s', 'f', '@daily'{options})");
    assert_eq!(db.one(&create).await, "created");
    db.run("update pgflow.schedules set revision = 1, after_at = now() - interval '10 minutes'")
        .await;
    db
}

/// Moments, as seconds from now, which are to start runs of the ids 1, 2 and so on.
fn fire(revision: u32, moments: &[i32]) -> String {
    let due: Vec<_> = moments.iter().map(|at| format!("now() + interval '{at} s'")).collect();
    let ids: Vec<_> = (1..=moments.len()).map(|number| format!("'{}'", id(number))).collect();
    format!(
        "select outcome, started, skipped from pgflow.advance_schedule('s', {revision}, array[{}]::timestamptz[],
           array[{}]::uuid[], '2999-01-01')",
        due.join(", "),
        ids.join(", ")
    )
}

fn fired(started: &[usize], skipped: u32) -> String {
    let ids: Vec<_> = started.iter().map(|number| id(*number)).collect();
    format!("fired|{{{}}}|{skipped}", ids.join(","))
}

async fn runs(db: &Db) -> Vec<String> {
    db.rows("select right(run_id::text, 1), status from pgflow.runs order by 1").await
}

#[tokio::test]
async fn only_moments_that_have_come_and_were_not_before_start_runs() {
    let db = scheduled(", missed => 'all(9)'").await;
    assert_eq!(db.one(&fire(1, &[-660, -180, 3600])).await, fired(&[2], 0));
    assert_eq!(runs(&db).await, ["2|started"]);
    let standing = "select status, next_at > now(), last_run, revision from pgflow.schedules";
    assert_eq!(db.one(standing).await, format!("active|t|{}|2", id(2)));
    assert_eq!(db.one(&fire(1, &[-60])).await, "superseded|NULL|NULL", "it is another one now");
    assert_eq!(db.one(&fire(2, &[-240])).await, fired(&[], 0), "that moment was before");
    assert_eq!(runs(&db).await, ["2|started"]);
    db.check().await;
}

#[tokio::test]
async fn moments_that_were_missed_are_made_up_for_as_it_says() {
    for (missed, moments, started, skipped) in [
        ("last", [-180, -120, -90], &[3][..], 2),
        ("all(2)", [-180, -120, -90], &[2, 3], 1),
        ("all(9)", [-180, -120, -90], &[1, 2, 3], 0),
        ("skip", [-180, -120, -90], &[], 3),
        ("skip", [-180, -120, -5], &[3], 2),
        ("skip", [-180, -40, -5], &[2, 3], 1),
        ("last", [-40, -20, -5], &[1, 2, 3], 0),
        ("all(1)", [-180, -20, -5], &[2, 3], 1),
    ] {
        let db = scheduled(&format!(", missed => '{missed}'")).await;
        assert_eq!(db.one(&fire(1, &moments)).await, fired(started, skipped), "{missed}");
        db.check().await;
    }
}

#[tokio::test]
async fn a_run_that_goes_on_keeps_others_from_starting() {
    let db = scheduled(", overlap => 'skip', missed => 'all(9)'").await;
    assert_eq!(db.one(&fire(1, &[-300, -240])).await, fired(&[2], 1), "one of them at once");
    let again = fire(2, &[-180]).replace(&id(1), &id(3));
    assert_eq!(db.one(&again).await, fired(&[], 1));
    db.run(&format!("select pgflow.cancel_run('{}')", id(2))).await;
    let again = fire(3, &[-120]).replace(&id(1), &id(4));
    assert_eq!(db.one(&again).await, fired(&[4], 0));
    assert_eq!(runs(&db).await, ["2|cancelled", "4|started"]);
    db.check().await;
}

#[tokio::test]
async fn moments_wait_in_line_for_the_run_before() {
    let db = scheduled(", overlap => 'queue', missed => 'all(9)'").await;
    assert_eq!(db.one(&fire(1, &[-300, -240, -180])).await, fired(&[1], 0));
    assert_eq!(db.one("select cardinality(queued_runs) from pgflow.schedules").await, "2");
    assert_eq!(db.one(&fire(2, &[])).await, fired(&[], 0), "the first goes on");
    for (revision, before, next) in [(2, 1, 2), (3, 2, 3)] {
        db.run(&format!("select pgflow.cancel_run('{}')", id(before))).await;
        let due = "select name from pgflow.due_schedules('{}', now(), 10)";
        assert_eq!(db.rows(due).await, ["s"], "a worker is to look at it");
        assert_eq!(db.one(&fire(revision, &[])).await, fired(&[next], 0));
        db.check().await;
    }
    assert_eq!(runs(&db).await, ["1|cancelled", "2|cancelled", "3|started"]);
}

#[tokio::test]
async fn what_is_paused_over_or_broken_starts_nothing() {
    let db = scheduled("").await;
    db.run("select pgflow.pause_schedule('s')").await;
    assert_eq!(db.one(&fire(2, &[-60])).await, "superseded|NULL|NULL");
    db.run("select pgflow.resume_schedule('s')").await;
    assert_eq!(db.one(&fire(3, &[-60])).await, fired(&[], 0), "what came meanwhile does not count");
    let over = "select outcome from pgflow.advance_schedule('s', 4, '{}', '{}', null)";
    assert_eq!(db.one(over).await, "fired");
    assert_eq!(db.one("select status, next_at from pgflow.schedules").await, "over|NULL");
    let broken =
        "select outcome from pgflow.advance_schedule('s', 5, '{}', '{}', null, 'no such zone')";
    assert_eq!(db.one(broken).await, "fired");
    assert_eq!(db.one("select status, error from pgflow.schedules").await, "broken|no such zone");
    assert_eq!(db.rows("select name from pgflow.due_schedules('{}', now(), 9)").await, [""; 0]);
    assert_eq!(runs(&db).await, [""; 0]);
    // Whoever makes it anew may know of a worker that can read it.
    let anew = "select pgflow.create_schedule('s', 'f', '@daily', missed => 'skip')";
    assert_eq!(db.one(anew).await, "replaced");
    assert_eq!(db.one("select status, error from pgflow.schedules").await, "pending|NULL");
    db.check().await;
}

#[tokio::test]
async fn a_start_that_is_refused_is_said_and_does_not_stop_the_schedule() {
    let db = scheduled("").await;
    db.run("update pgflow.schedules set flow_slug = 'none'").await;
    db.one(&fire(1, &[-60])).await;
    assert_eq!(runs(&db).await, [""; 0]);
    let said = "select status, error is not null from pgflow.schedules";
    assert_eq!(db.one(said).await, "active|t");
    db.run("update pgflow.schedules set flow_slug = 'f', after_at = now() - interval '10 minutes'")
        .await;
    assert_eq!(db.one(&fire(2, &[-30])).await, fired(&[1], 0));
    assert_eq!(db.one("select error from pgflow.schedules").await, "NULL");
    db.check().await;
}

#[tokio::test]
async fn what_there_is_no_input_for_does_not_start() {
    let db = scheduled("").await;
    let refused =
        fire(1, &[-60]).replace("'2999-01-01')", "'2999-01-01', refusal => 'there is none')");
    assert_eq!(db.one(&refused).await, fired(&[], 1));
    assert_eq!(runs(&db).await, [""; 0]);
    let standing = "select status, error, last_run, next_at > now() from pgflow.schedules";
    assert_eq!(db.one(standing).await, "active|there is none|NULL|t");
    assert_eq!(db.one(&fire(2, &[-30])).await, fired(&[1], 0));
    assert_eq!(db.one("select error from pgflow.schedules").await, "NULL");
    db.check().await;
}

#[tokio::test]
async fn who_fires_waits_for_who_changes_the_schedule() {
    let db = scheduled("").await;
    let mut other = db.session().await;
    other.run("begin").await;
    other.run("select pgflow.pause_schedule('s')").await;
    let firing = crate::harness::Waiting::for_a_lock(&db, &fire(1, &[-60])).await;
    other.run("commit").await;
    assert_eq!(firing.answer().await.expect("an answer"), ["superseded|NULL|NULL"]);
    assert_eq!(runs(&db).await, [""; 0]);
}
